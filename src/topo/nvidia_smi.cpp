// Reads the matrix that `nvidia-smi topo -m` prints:
//
//             GPU0    GPU1    NIC0    CPU Affinity
//     GPU0     X      NV2     PIX     0-23
//     GPU1    NV2      X      SYS     0-23
//
// Cells are set apart by tabs or blanks. Rows of other devices, the heading and the legend do not
// count.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/diagnostic.h"
#include "hocket/topology.h"

namespace hocket {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t start = line.find_first_not_of(kBlank);
    if (start == std::string_view::npos) return words;
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// The number after `prefix`; none where the word is something else.
std::optional<int> number_after(std::string_view word, std::string_view prefix) {
  if (word.substr(0, prefix.size()) != prefix) return std::nullopt;
  word.remove_prefix(prefix.size());
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Topology nvlink_only(std::string_view text, CallSite at) {
  const auto fail = [at](std::string message) {
    throw Error(Code::BadTopology, std::move(message), at,
                "give the whole output of `nvidia-smi topo -m`");
  };
  std::vector<std::vector<std::string_view>> rows;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // The heading starts with a blank or an escape code, a row with its GPU.
    if (line.substr(0, 3) != "GPU") continue;
    auto words = words_of(line);
    // A heading that lost its first blank: "GPU0 GPU1 ...".
    if (words.size() > 1 && number_after(words[1], "GPU")) continue;
    if (number_after(words[0], "GPU") != static_cast<int>(rows.size())) {
      fail(fmt::format("topology text: row {} is of {}, but it should be of GPU{}", rows.size(),
                       words[0], rows.size()));
    }
    words.erase(words.begin());
    rows.push_back(std::move(words));
  }
  if (rows.empty()) fail("topology text without a row that starts with GPU0");
  const std::size_t n = rows.size();
  std::vector<std::vector<double>> links(n, std::vector<double>(n, 0));
  for (std::size_t row = 0; row < n; ++row) {
    if (rows[row].size() < n) {
      fail(fmt::format("topology text: row GPU{} has {} cells, but there are {} GPUs", row,
                       rows[row].size(), n));
    }
    for (std::size_t column = 0; column < n; ++column) {
      const std::string_view cell = rows[row][column];
      if (row == column && cell != "X") {
        fail(fmt::format("topology text: row GPU{} has {} under itself, but that is X", row, cell));
      }
      if (cell.substr(0, 2) != "NV") continue;
      const auto count = number_after(cell, "NV");
      if (!count) {
        fail(
            fmt::format("topology text: row GPU{} has {} under GPU{}, but NV is followed by a "
                        "number of links",
                        row, cell, column));
      }
      links[row][column] = *count;
    }
  }
  return Topology::from_table("NVLinkOnly", links, {}, at);
}

}  // namespace hocket
