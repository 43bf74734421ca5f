// Reads the text form. docs/formats.md has the grammar; text_writer.cpp is the inverse.
//
// It refuses what it cannot read, not what cannot run: an algorithm that breaks the rules can be
// written down, as the tests of those who judge algorithms need.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>

#include "export/custom_slots.h"
#include "export/text_cursor.h"
#include "hocket/format.h"

namespace hocket {
namespace {

constexpr std::int64_t kMaxLong = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinLong = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kMostBytes = std::size_t{1} << 32;

class TextReader {
 public:
  TextReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  Algorithm read() {
    if (text_.size() > kMostBytes) {
      throw Error(Code::XmlTooLarge,
                  fmt::format("{} bytes of text, expected at most {}", text_.size(), kMostBytes),
                  Location(file_, 1));
    }
    std::string_view rest = text_.substr(0, 3) == "\xEF\xBB\xBF" ? text_.substr(3) : text_;
    while (!rest.empty()) {
      const std::size_t stop = rest.find('\n');
      ++line_;
      TextCursor cursor(rest.substr(0, stop), file_, line_);
      if (!cursor.at_end()) read_line(cursor);
      rest = stop == std::string_view::npos ? std::string_view() : rest.substr(stop + 1);
    }
    TextCursor end("", file_, std::max(line_, 1U));
    if (stage_ == Stage::start)
      end.fail(Code::TextSyntax, "an empty file, expected algorithm \"NAME\"");
    if (stage_ == Stage::header) end.fail(Code::TextSyntax, "no collective line");
    finish_collective();
    if (!no_collective_ && a_.num_ranks() != ranks_) {
      end.fail(Code::TextValue, fmt::format("{} rank lines, expected the {} of the collective",
                                            a_.num_ranks(), ranks_));
    }
    if (!channels_said_) a_.num_channels = highest_channel_ + 1;
    return std::move(a_);
  }

 private:
  enum class Stage { start, header, collective, ranks, blocks };

  void read_line(TextCursor& c) {
    if (stage_ == Stage::start) {
      c.expect("algorithm", "algorithm \"NAME\"");
      return read_header(c);
    }
    if (stage_ == Stage::header) {
      c.expect("collective", "collective KIND ranks=N");
      return read_collective(c);
    }
    TextCursor ahead = c;
    const std::string_view first = ahead.word();
    if (first == "rank") {
      finish_collective();
      c = ahead;
      return read_rank(c);
    }
    if (stage_ == Stage::collective) {
      if (!custom_) c.fail_here("rank");
      return read_custom_line(c);
    }
    if (first == "tb") {
      c = ahead;
      return read_tb(c);
    }
    const auto op = op_from_name(first);
    if (!op || stage_ != Stage::blocks) {
      c.fail_here(stage_ == Stage::blocks
                      ? "a step (s, r, rcs, rrs, rrc, rrcs, cpy, re or nop), tb or rank"
                      : "tb or rank");
    }
    c = ahead;
    read_step(c, *op);
  }

  void read_header(TextCursor& c) {
    stage_ = Stage::header;
    a_.name = c.quoted("the algorithm's name");
    bool out = false;
    bool nowhere = false;
    while (!c.at_end()) {
      if (c.accept("proto=")) {
        const std::string_view name = c.word();
        const auto protocol = protocol_from_name(name);
        if (!protocol) {
          c.fail(Code::TextSyntax,
                 fmt::format("protocol \"{}\", expected Simple, LL or LL128", name));
        }
        a_.protocol = *protocol;
      } else if (c.accept("channels=")) {
        a_.num_channels = c.int32("channels");
        channels_said_ = true;
      } else if (c.accept("chunks=")) {
        a_.chunks_per_loop = c.int32("chunks");
        chunks_said_ = true;
      } else if (c.accept("in_place")) {
        a_.in_place = true;
      } else if (c.accept("out_of_place")) {
        out = true;
      } else if (c.accept("nowhere")) {
        nowhere = true;
      } else if (c.accept("min=")) {
        a_.min_bytes = c.number("min", kMinLong, kMaxLong);
      } else if (c.accept("max=")) {
        a_.max_bytes = c.number("max", kMinLong, kMaxLong);
      } else if (c.accept("threads=")) {
        a_.num_threads = c.int32("threads");
      } else {
        c.fail_here(
            "proto=, channels=, chunks=, in_place, out_of_place, nowhere, min=, max= or threads=");
      }
    }
    if (nowhere && (out || a_.in_place)) {
      c.fail(Code::TextSyntax, "nowhere beside in_place or out_of_place, expected one of them");
    }
    a_.out_of_place = out || (!a_.in_place && !nowhere);
  }

  void read_collective(TextCursor& c) {
    stage_ = Stage::collective;
    if (c.accept("none")) {
      no_collective_ = true;
      return c.expect_end();
    }
    const std::string_view name = c.word();
    const auto kind = collective_kind_from_name(name);
    if (!kind) {
      c.fail(
          Code::TextSyntax,
          fmt::format("collective \"{}\", expected allreduce, allgather, reduce_scatter, alltoall, "
                      "broadcast, reduce, gather, scatter, all_to_next_forward, "
                      "all_to_next_backward, custom or none",
                      name.substr(0, 40)));
    }
    const bool is_custom = *kind == CollectiveKind::custom;
    const std::string custom_name = is_custom ? c.quoted("the collective's name") : std::string();
    std::int32_t factor = 1;
    std::int32_t root = 0;
    a_.root_guessed = has_root(*kind);
    bool in_place = a_.in_place && !a_.out_of_place;
    while (!c.at_end()) {
      if (c.accept("ranks=")) {
        ranks_ = c.int32("ranks", 1, kMaxFormatRanks);
      } else if (c.accept("factor=")) {
        factor = c.int32("factor", 1);
      } else if (is_custom && c.accept("split=")) {
        split_ = c.int32("split", 1);
      } else if (has_root(*kind) && c.accept("root=")) {
        root = c.int32("root", 0);
        a_.root_guessed = false;
      } else if (c.accept("aliased")) {
        in_place = true;
      } else if (c.accept("separate")) {
        in_place = false;
      } else if (is_custom && c.accept("no_postcondition")) {
        postcondition_ = false;
      } else {
        c.fail_here(is_custom ? "ranks=, factor=, split=, aliased, separate or no_postcondition"
                    : has_root(*kind) ? "ranks=, factor=, root=, aliased or separate"
                                      : "ranks=, factor=, aliased or separate");
      }
    }
    if (ranks_ == 0) c.fail(Code::TextSyntax, "a collective without ranks=");
    // Every rank has its line, so a file cannot ask for more than it has bytes.
    if (static_cast<std::size_t>(ranks_) > text_.size()) {
      c.fail(Code::TextValue, fmt::format("{} ranks, more than the file has lines", ranks_));
    }
    try {
      if (is_custom) {
        custom_ = std::make_unique<CustomBuilder>(custom_name, ranks_, factor, in_place,
                                                  text_.size(), fail_at(c));
      } else {
        a_.collective = Collective::make(*kind, ranks_, factor, in_place, root);
      }
    } catch (const Error& error) {
      if (error.code() != Code::BadCollective) throw;
      c.fail(Code::TextValue, error.diagnostic().message);
    }
    collective_line_ = line_;
  }

  static CustomBuilder::Fail fail_at(const TextCursor& c) {
    return [&c](bool too_large, const std::string& message) {
      c.fail(too_large ? Code::XmlTooLarge : Code::TextValue, message);
    };
  }

  void read_custom_line(TextCursor& c) {
    if (c.accept("buffers")) {
      const std::int32_t rank = c.int32("rank", 0, ranks_ - 1);
      std::int32_t in = 0;
      std::int32_t out = 0;
      while (!c.at_end()) {
        if (c.accept("in=")) {
          in = c.int32("in", 0);
        } else if (c.accept("out=")) {
          out = c.int32("out", 0);
        } else {
          c.fail_here("in= or out=");
        }
      }
      return custom_->buffers(rank, in, out, fail_at(c));
    }
    const bool holds = c.accept("holds");
    if (!holds) c.expect("wants", "buffers, holds, wants or rank");
    const std::int32_t rank = c.int32("rank", 0, ranks_ - 1);
    SlotRun run;
    run.buffer = read_operand(c, run.first);
    if (c.accept("cnt=")) run.count = c.int32("cnt", 1);
    c.expect("=", "=");
    while (!c.at_end()) {
      OriginRun o;
      o.first_rank = o.last_rank = c.int32("rank", 0, ranks_ - 1);
      if (c.accept("-")) o.last_rank = c.int32("rank", 0, ranks_ - 1);
      c.expect(":", "a ':' and the index of the origin");
      o.index = c.int32("index", 0);
      run.origins.push_back(o);
    }
    if (holds) {
      custom_->holds(rank, run, fail_at(c));
    } else {
      custom_->wants(rank, run, fail_at(c));
    }
  }

  void finish_collective() {
    if (stage_ != Stage::collective) return;
    stage_ = Stage::ranks;
    if (custom_) {
      const TextCursor at("", file_, collective_line_);
      a_.collective = custom_->build(split_, postcondition_, fail_at(at));
    }
    if (!chunks_said_) a_.chunks_per_loop = a_.collective.chunks_per_loop();
  }

  void read_rank(TextCursor& c) {
    stage_ = Stage::ranks;
    const auto expected = static_cast<std::int32_t>(a_.ranks.size());
    const std::int32_t r = c.int32("rank");
    if (r != expected) {
      c.fail(Code::TextValue, fmt::format("rank {}, expected rank {}", r, expected));
    }
    if (!no_collective_ && r >= ranks_) {
      c.fail(Code::TextValue, fmt::format("rank {}, but the collective has {} ranks", r, ranks_));
    }
    RankProgram rank;
    rank.input_chunks = a_.collective.input_chunks(r);
    rank.output_chunks = a_.collective.output_chunks(r);
    while (!c.at_end()) {
      if (c.accept("in=")) {
        rank.input_chunks = c.int32("in");
      } else if (c.accept("out=")) {
        rank.output_chunks = c.int32("out");
      } else if (c.accept("scratch=")) {
        rank.scratch_chunks = c.int32("scratch");
      } else {
        c.fail_here("in=, out= or scratch=");
      }
    }
    a_.ranks.push_back(std::move(rank));
  }

  void read_tb(TextCursor& c) {
    stage_ = Stage::blocks;
    std::vector<ThreadBlock>& blocks = a_.ranks.back().threadblocks;
    const auto expected = static_cast<std::int32_t>(blocks.size());
    const std::int32_t t = c.int32("tb");
    if (t != expected) c.fail(Code::TextValue, fmt::format("tb {}, expected tb {}", t, expected));
    ThreadBlock tb;
    while (!c.at_end()) {
      if (c.accept("send=")) {
        tb.send = c.int32("send");
      } else if (c.accept("recv=")) {
        tb.recv = c.int32("recv");
      } else if (c.accept("chan=")) {
        tb.channel = c.int32("chan");
      } else {
        c.fail_here("send=, recv= or chan=");
      }
    }
    highest_channel_ = std::max(highest_channel_, tb.channel);
    tb.first_step = static_cast<std::uint32_t>(a_.steps.size());
    blocks.push_back(tb);
  }

  BufferKind read_operand(TextCursor& c, std::int32_t& offset) {
    BufferKind kind = BufferKind::input;
    if (c.accept("i[")) {
      kind = BufferKind::input;
    } else if (c.accept("o[")) {
      kind = BufferKind::output;
    } else if (c.accept("s[")) {
      kind = BufferKind::scratch;
    } else {
      c.fail_here("a chunk as i[N], o[N] or s[N]");
    }
    offset = c.int32("chunk index");
    c.expect("]", "']'");
    return kind;
  }

  void read_step(TextCursor& c, OpCode op) {
    Step step;
    step.op = op;
    step.count = op == OpCode::nop ? 0 : 1;
    std::uint32_t location = 0;
    TextCursor ahead = c;
    if (op != OpCode::nop || ahead.accept("i[") || ahead.accept("o[") || ahead.accept("s[")) {
      step.src_buffer = step.dst_buffer = read_operand(c, step.src_offset);
      step.dst_offset = step.src_offset;
      if (c.accept("->")) step.dst_buffer = read_operand(c, step.dst_offset);
    }
    while (!c.at_end()) {
      if (c.accept("cnt=")) {
        step.count = c.int32("cnt");
      } else if (c.accept("after=")) {
        step.depend_tb = c.int32("threadblock");
        c.expect(":", "a ':' and the step to wait for");
        step.depend_step = c.int32("step");
      } else if (c.accept("signals")) {
        step.has_dependent = true;
      } else if (c.accept("@")) {
        location = read_location(c);
      } else {
        c.fail_here("->, cnt=, after=, signals or @FILE:LINE");
      }
    }
    if (location != 0 || !a_.step_locations.empty()) {
      a_.step_locations.resize(a_.steps.size());  // those before it are unknown
      a_.step_locations.push_back(location);
    }
    a_.steps.push_back(step);
    ++a_.ranks.back().threadblocks.back().num_steps;
  }

  std::uint32_t read_location(TextCursor& c) {
    TextCursor ahead = c;
    std::string name;
    if (ahead.accept("\"")) {
      name = c.quoted("a file name");
      c.expect(":", "a ':' and the line number");
    } else {
      // The last ':' parts the name from the line.
      const std::string_view both = ahead.until_blank();
      const std::size_t colon = both.rfind(':');
      if (colon == std::string_view::npos || colon == 0) c.fail_here("FILE:LINE after @");
      name = both.substr(0, colon);
      const std::string_view line = both.substr(colon + 1);
      TextCursor digits(line, file_, line_);
      const std::uint32_t found = intern(std::move(name), line_number(digits));
      digits.expect_end();
      c = ahead;
      return found;
    }
    return intern(std::move(name), line_number(c));
  }

  static std::uint32_t line_number(TextCursor& c) {
    return static_cast<std::uint32_t>(
        c.number("line", 0, std::numeric_limits<std::uint32_t>::max()));
  }

  std::uint32_t intern(std::string name, std::uint32_t line) {
    if (a_.locations.empty()) a_.locations.emplace_back();
    const auto [found, added] = interned_.try_emplace(
        fmt::format("{}:{}", name, line), static_cast<std::uint32_t>(a_.locations.size()));
    if (added) a_.locations.emplace_back(std::move(name), line);
    return found->second;
  }

  std::string_view text_;
  std::string file_;
  std::uint32_t line_ = 0;
  Stage stage_ = Stage::start;
  Algorithm a_;
  std::int32_t ranks_ = 0;
  bool no_collective_ = false;
  bool channels_said_ = false;
  bool chunks_said_ = false;
  std::int32_t highest_channel_ = -1;
  std::unique_ptr<CustomBuilder> custom_;
  std::int32_t split_ = 1;
  bool postcondition_ = true;
  std::uint32_t collective_line_ = 0;
  std::unordered_map<std::string, std::uint32_t> interned_;
};

}  // namespace

Algorithm from_text(std::string_view text, std::string file) {
  return TextReader(text, std::move(file)).read();
}

Algorithm from_any(std::string_view text, std::string file, const DiagnosticSink& warn) {
  std::string_view start = text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && start[first] == '<') {
    return from_xml(text, std::move(file), warn);
  }
  return from_text(text, std::move(file));
}

}  // namespace hocket
