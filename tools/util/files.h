// Reading and writing whole files as a command should: "-" is standard input and output, and a file
// that is written either has all of its new content or still its old one.
#pragma once

#include <string>
#include <string_view>

namespace hocket::tool {

// The whole file. Error HK0901 (not there, not readable, a directory, larger than 2 GiB).
std::string read_file(const std::string& path);

// The whole file at once: written beside it under another name, flushed, then renamed. Devices and
// pipes are written directly. Error HK0902; the old content, if any, is then untouched.
void write_file(const std::string& path, std::string_view text);

// To standard output, all of it. Error HK0902.
void write_out(std::string_view text);
// To standard error; nothing is done about a failure.
void write_err(std::string_view text);

}  // namespace hocket::tool
