// Text to typed arguments, with every refusal in the caller's terms.
#include <fmt/format.h>

#include <charconv>

#include "algorithms/entry.h"
#include "support/suggest.h"

namespace hocket::algorithms {
namespace {

// A program of this size takes some gigabytes to trace and compile.
constexpr double kMostOperations = 5e7;
constexpr double kMostChunks = 5e8;

std::string list_names(const std::vector<ParameterInfo>& known) {
  std::string names;
  for (const ParameterInfo& p : known) names += (names.empty() ? "" : ", ") + p.name;
  return names;
}

}  // namespace

Arguments::Arguments(std::string algorithm, const std::vector<ParameterInfo>& known,
                     const Parameters& given, CallSite at)
    : algorithm_(std::move(algorithm)), at_(at) {
  std::vector<std::string> names;
  for (const ParameterInfo& p : known) {
    values_[p.name] = p.default_value;
    names.push_back(p.name);
  }
  for (const auto& [name, value] : given) {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      const std::string near = did_you_mean(name, names);
      refuse(fmt::format("no parameter \"{}\"; it takes {}", name, list_names(known)), near);
    }
    found->second = value;
  }
}

void Arguments::refuse(std::string message, std::string hint) const {
  throw Error(Code::BadParameter, fmt::format("{}: {}", algorithm_, message), at_, std::move(hint));
}

const std::string& Arguments::text(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  HOCKET_CHECK(found != values_.end(), fmt::format("{} declares {}", algorithm_, name));
  return found->second;
}

int Arguments::integer(std::string_view name, int low, int high) const {
  const std::string& value = text(name);
  int number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc::result_out_of_range ||
      (error == std::errc() && stop == end && number > high)) {
    refuse(fmt::format("{}={} is too large, at most {} is possible", name, value, high));
  }
  if (error != std::errc() || stop != end) {
    refuse(fmt::format("{}={} is not a whole number", name, value));
  }
  if (number < low)
    refuse(fmt::format("{}={} is too small, at least {} is needed", name, value, low));
  return number;
}

bool Arguments::flag(std::string_view name) const {
  const std::string& value = text(name);
  for (const char* yes : {"true", "1", "yes", "on"}) {
    if (value == yes) return true;
  }
  for (const char* no : {"false", "0", "no", "off"}) {
    if (value == no) return false;
  }
  refuse(fmt::format("{}={} is neither true nor false", name, value));
}

int Arguments::ranks() const {
  constexpr int kMostRanks = 1 << 20;
  return integer("ranks", 1, kMostRanks);
}

int Arguments::root(int n) const {
  const int root = integer("root", 0);
  if (root >= n) refuse(fmt::format("root={} is not one of the {} ranks, 0 to {}", root, n, n - 1));
  return root;
}

Via Arguments::stream(std::int64_t i) const {
  constexpr int kMostChannels = 32;  // what every runtime has
  const int channels = integer("channels", 0, kMostChannels);
  return channels == 0 ? Via{} : Via{.channel = static_cast<int>(i % channels)};
}

ProgramOptions Arguments::options() const {
  constexpr int kMostInstances = 1 << 16;
  ProgramOptions options;
  const std::string& protocol = text("protocol");
  if (const auto known = protocol_from_name(protocol)) {
    options.protocol = *known;
  } else {
    refuse(fmt::format("protocol={} is unknown; it is Simple, LL or LL128", protocol));
  }
  options.instances = integer("instances", 1, kMostInstances);
  const std::string& replication = text("replication");
  if (replication == "batched") {
    options.replication = Replication::batched;
  } else if (replication != "interleaved") {
    refuse(fmt::format("replication={} is unknown; it is interleaved or batched", replication));
  }
  options.fuse = flag("fuse");
  return options;
}

void Arguments::limit_size(double operations, double chunks) const {
  const char* hint = "ask for fewer ranks, or a smaller chunk_factor";
  if (operations > kMostOperations) {
    refuse(fmt::format(
               "that would be {:.3g} copies and reductions, more than the {:.0g} that are traced",
               operations, kMostOperations),
           hint);
  }
  if (chunks > kMostChunks) {
    refuse(fmt::format(
               "that would be {:.3g} chunks in all buffers, more than the {:.0g} that are kept",
               chunks, kMostChunks),
           hint);
  }
}

}  // namespace hocket::algorithms
