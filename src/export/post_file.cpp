// Collectives as JSON files of their own: what an algorithm must compute, said beside its XML,
// which cannot say it. Slots and origins are runs, written as in the text form.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "export/custom_slots.h"
#include "hocket/format.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const OriginRun& run) {
  return run.first_rank == run.last_rank
             ? fmt::format("{}:{}", run.first_rank, run.index)
             : fmt::format("{}-{}:{}", run.first_rank, run.last_rank, run.index);
}

Json to_json(const std::vector<SlotRun>& runs) {
  Json json = Json::array();
  for (const SlotRun& run : runs) {
    Json origins = Json::array();
    for (const OriginRun& o : run.origins) origins.push_back(text_of(o));
    Json one = {{"at", fmt::format("{}[{}]", buffer_kind_letter(run.buffer), run.first)}};
    if (run.count > 1) one["count"] = run.count;
    one["origins"] = std::move(origins);
    json.push_back(std::move(one));
  }
  return json;
}

class Reader {
 public:
  Reader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  Collective read() {
    const Json json = parse();
    if (!json.is_object()) syntax("expected an object");
    const std::string name = string(json, "collective", "");
    const auto kind = collective_kind_from_name(name);
    if (!kind) value("collective", fmt::format("\"{}\" is no collective", name));
    const std::int32_t ranks = number(json, "", "ranks", 1, kMaxFormatRanks);
    const std::int32_t factor = number(json, "", "chunk_factor", 1, kMost, 1);
    const bool in_place = flag(json, "in_place", false);
    if (*kind == CollectiveKind::custom) return custom(json, ranks, factor, in_place);
    const std::int32_t root = number(json, "", "root", 0, ranks - 1, 0);
    only(json, "", {"collective", "ranks", "chunk_factor", "in_place", "root"});
    try {
      return Collective::make(*kind, ranks, factor, in_place, root, CallSite{});
    } catch (const Error& error) {
      value("", error.diagnostic().message);
    }
  }

 private:
  static constexpr std::int32_t kMost = (1 << 30);

  [[noreturn]] void fail(Code code, const std::string& message, std::uint32_t line) const {
    throw Error(code, message, Location(file_, line),
                "docs/formats.md, \"Postcondition files\", has the form");
  }
  [[noreturn]] void syntax(const std::string& message, std::size_t byte = 0) const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text_.size()));
    fail(Code::PostSyntax, message,
         1 + static_cast<std::uint32_t>(std::count(text_.begin(), end, '\n')));
  }
  [[noreturn]] void value(const std::string& where, const std::string& message) const {
    fail(Code::PostValue, where.empty() ? message : fmt::format("{}: {}", where, message), 1);
  }

  Json parse() const {
    // Its own parser builds what it reads as it goes; depth costs no stack. Of two equal keys it
    // would keep the last.
    std::vector<std::set<std::string>> keys;
    const Json::parser_callback_t watch = [&](int, Json::parse_event_t event, Json& key) {
      if (event == Json::parse_event_t::object_start) keys.emplace_back();
      if (event == Json::parse_event_t::object_end) keys.pop_back();
      if (event == Json::parse_event_t::key && !keys.back().insert(key.get<std::string>()).second) {
        value("", fmt::format("\"{}\" is said twice in one object", key.get<std::string>()));
      }
      return true;
    };
    try {
      return Json::parse(text_, watch);
    } catch (const Json::parse_error& error) {
      const std::string_view reason = error.what();
      const std::size_t at = reason.find("syntax error");
      syntax(at == std::string_view::npos ? "not JSON"
                                          : fmt::format("not JSON: {}", reason.substr(at)),
             error.byte);
    }
  }

  const Json& member(const Json& json, const std::string& where, const char* key) const {
    const auto at = json.find(key);
    if (at == json.end()) value(where, fmt::format("\"{}\" is missing", key));
    return *at;
  }
  std::string string(const Json& json, const char* key, const std::string& where) const {
    const Json& m = member(json, where, key);
    if (!m.is_string()) value(key, "expected a string");
    return m.get<std::string>();
  }
  std::int32_t number(const Json& json, const std::string& where, const char* key,
                      std::int64_t least, std::int64_t most,
                      std::optional<std::int32_t> otherwise = {}) const {
    if (otherwise && !json.contains(key)) return *otherwise;
    const Json& m = member(json, where, key);
    const std::string name = where.empty() ? key : fmt::format("{}.{}", where, key);
    if (!m.is_number_integer()) value(name, "expected a whole number");
    // Beyond 64 bits it is a floating-point number; beyond 63, an unsigned one.
    const bool huge = m.is_number_unsigned() && m.get<std::uint64_t>() > std::uint64_t{1} << 62;
    const std::int64_t n = huge ? std::int64_t{1} << 62 : m.get<std::int64_t>();
    if (n < least || n > most) {
      value(name, fmt::format("{}, expected {} to {}", m.dump(), least, most));
    }
    return static_cast<std::int32_t>(n);
  }
  bool flag(const Json& json, const char* key, bool otherwise) const {
    if (!json.contains(key)) return otherwise;
    if (!json[key].is_boolean()) value(key, "expected true or false");
    return json[key].get<bool>();
  }
  void only(const Json& json, const std::string& where,
            std::initializer_list<std::string_view> known) const {
    for (const auto& [key, unused] : json.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        value(where, fmt::format("\"{}\" is not known", key));
      }
    }
  }

  Collective custom(const Json& json, std::int32_t ranks, std::int32_t factor, bool in_place) {
    only(json, "",
         {"collective", "name", "ranks", "chunk_factor", "split", "in_place", "postcondition",
          "slots"});
    std::string where;
    const CustomBuilder::Fail refuse = [&](bool, const std::string& message) {
      value(where, message);
    };
    const std::int32_t split = number(json, "", "split", 1, kMost, 1);
    CustomBuilder builder(json.contains("name") ? string(json, "name", "") : "custom", ranks,
                          factor, in_place, text_.size(), refuse);
    const Json& slots = member(json, "", "slots");
    if (!slots.is_array()) value("slots", "expected an array");
    for (std::size_t i = 0; i < slots.size(); ++i) {
      where = fmt::format("slots[{}]", i);
      const Json& one = slots[i];
      if (!one.is_object()) value(where, "expected an object");
      only(one, where, {"rank", "input", "output", "holds", "wants"});
      const std::int32_t rank = number(one, where, "rank", 0, ranks - 1);
      builder.buffers(rank, number(one, where, "input", 0, kMost, 0),
                      number(one, where, "output", 0, kMost, 0), refuse);
      for (const char* key : {"holds", "wants"}) {
        if (!one.contains(key)) continue;
        const std::string here = fmt::format("slots[{}].{}", i, key);
        if (!one[key].is_array()) value(here, "expected an array");
        for (std::size_t k = 0; k < one[key].size(); ++k) {
          where = fmt::format("{}[{}]", here, k);
          const SlotRun run = slot_run(one[key][k], where);
          key == std::string_view("holds") ? builder.holds(rank, run, refuse)
                                           : builder.wants(rank, run, refuse);
        }
      }
    }
    where.clear();
    return builder.build(split, flag(json, "postcondition", true), refuse);
  }

  SlotRun slot_run(const Json& json, const std::string& where) const {
    if (!json.is_object()) value(where, "expected an object");
    only(json, where, {"at", "count", "origins"});
    SlotRun run;
    const std::string at = string(json, "at", where);
    const std::string_view digits =
        std::string_view(at).substr(std::min<std::size_t>(at.size(), 2));
    const bool named = at.size() > 3 && (at[0] == 'i' || at[0] == 'o') && at[1] == '[' &&
                       at.back() == ']' && whole(digits.substr(0, digits.size() - 1), run.first);
    if (!named) value(where, fmt::format("\"{}\", expected a slot as i[N] or o[N]", at));
    run.buffer = at[0] == 'i' ? BufferKind::input : BufferKind::output;
    run.count = number(json, where, "count", 1, kMost, 1);
    const Json& origins = member(json, where, "origins");
    if (!origins.is_array()) value(where, "\"origins\": expected an array");
    for (const Json& origin : origins) {
      if (!origin.is_string()) value(where, "an origin: expected a string as \"0:3\" or \"0-7:3\"");
      run.origins.push_back(origin_run(origin.get<std::string>(), where));
    }
    return run;
  }

  OriginRun origin_run(const std::string& text, const std::string& where) const {
    OriginRun run;
    const std::string_view all = text;
    const std::size_t colon = all.find(':');
    const std::string_view ranks = all.substr(0, colon);
    const std::size_t dash = ranks.find('-');
    const bool read =
        colon != std::string_view::npos && whole(all.substr(colon + 1), run.index) &&
        whole(ranks.substr(0, dash), run.first_rank) &&
        (dash == std::string_view::npos ? (run.last_rank = run.first_rank, true)
                                        : whole(ranks.substr(dash + 1), run.last_rank));
    if (!read || run.last_rank < run.first_rank) {
      value(where, fmt::format("\"{}\", expected an origin as \"0:3\" or \"0-7:3\"", text));
    }
    return run;
  }

  static bool whole(std::string_view text, std::int32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() && number >= 0;
  }

  std::string_view text_;
  std::string file_;
};

}  // namespace

std::string to_post_json(const Collective& collective) {
  Json json = {{"collective", collective_kind_name(collective.kind())}};
  const CustomCollective* custom = collective.custom();
  if (custom != nullptr) json["name"] = collective.name();
  json["ranks"] = collective.num_ranks();
  json["chunk_factor"] = custom == nullptr ? collective.chunk_factor()
                                           : collective.chunk_factor() / collective.split();
  json["in_place"] = collective.in_place();
  if (has_root(collective.kind())) json["root"] = collective.root();
  if (custom != nullptr) {
    if (collective.split() > 1) json["split"] = collective.split();
    json["postcondition"] = collective.has_postcondition();
    Json slots = Json::array();
    for (int r = 0; r < custom->num_ranks(); ++r) {
      const CustomCollective::RankSlots& rank = custom->rank(r);
      Json one = {{"rank", r}, {"input", rank.input_chunks}, {"output", rank.output_chunks}};
      one["holds"] = to_json(held_runs(rank));
      if (collective.has_postcondition()) one["wants"] = to_json(wanted_runs(rank));
      slots.push_back(std::move(one));
    }
    json["slots"] = std::move(slots);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Collective from_post_json(std::string_view text, std::string file) {
  return Reader(text, std::move(file)).read();
}

}  // namespace hocket
