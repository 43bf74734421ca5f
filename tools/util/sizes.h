// Sizes as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hocket::tool {

// Bytes: a whole number, then nothing, B, K, M, G or T (powers of 1024, as nccl-tests has it), KiB,
// MiB, GiB, TiB (the same), or KB, MB, GB, TB (powers of 1000). Letters in either case. No spaces,
// signs or fractions. `option` is for the message. Error HK0903.
std::int64_t parse_size(std::string_view text, std::string_view option);

// "1 MiB", "1000 B", "1.5 GiB": three digits and the largest unit that keeps it above 1.
std::string format_size(std::int64_t bytes);
// "12.3 us", "1.20 s"
std::string format_seconds(double seconds);

}  // namespace hocket::tool
