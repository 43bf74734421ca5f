#include "util/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "hocket/diagnostic.h"

namespace hocket::tool {
namespace {

constexpr std::string_view kLetters = "KMGT";

// The factor of a unit, 0 for one that does not exist.
std::int64_t unit(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper.empty() || upper == "B") return 1;
  const std::size_t power = kLetters.find(upper[0]);
  if (power == std::string_view::npos) return 0;
  const std::string rest = upper.substr(1);
  const std::int64_t base = rest == "B" ? 1000 : rest.empty() || rest == "IB" ? 1024 : 0;
  std::int64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= base;
  return factor;
}

}  // namespace

std::int64_t parse_size(std::string_view text, std::string_view option) {
  const std::string hint = "write 4096, 64KiB, 1M (1024 * 1024) or 1MB (1000 * 1000)";
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  const std::int64_t factor = unit(rest);
  if (error == std::errc::result_out_of_range ||
      (error == std::errc() && factor > 0 &&
       number > std::numeric_limits<std::int64_t>::max() / factor)) {
    throw Error(Code::Usage, fmt::format("{} {}: more bytes than 63 bits count", option, text));
  }
  if (error != std::errc() || number < 0 || factor == 0 ||
      !std::isdigit(static_cast<unsigned char>(text[0]))) {
    throw Error(Code::Usage, fmt::format("{} \"{}\" is not a size in bytes", option, text), {},
                hint);
  }
  return number * factor;
}

std::string format_size(std::int64_t bytes) {
  double value = static_cast<double>(bytes);
  std::size_t power = 0;
  while (value >= 1024 && power < kLetters.size()) {
    value /= 1024;
    ++power;
  }
  if (power == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.4g} {}iB", value, kLetters[power - 1]);
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace hocket::tool
