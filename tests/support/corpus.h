// Files that nobody here wrote, from beside the source tree. A test that reads them skips, and says
// so, where they are absent.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace hocket::test {

// The XML files of ../shared/corpus/`folder`, sorted; empty when there are none.
inline std::vector<std::filesystem::path> corpus_files(const std::string& folder) {
  const std::filesystem::path at =
      std::filesystem::path(HOCKET_SOURCE_DIR) / "../shared/corpus" / folder;
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(at, missing)) {
    if (entry.path().extension() == ".xml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace hocket::test
