// Prints the text form. docs/formats.md has the grammar; text_reader.cpp is the inverse.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "export/custom_slots.h"
#include "export/text_cursor.h"
#include "hocket/format.h"

namespace hocket {
namespace {

class TextWriter {
 public:
  explicit TextWriter(const Algorithm& algorithm) : a_(algorithm) {}

  std::string write() {
    out_.reserve(256 + a_.steps.size() * 40 + a_.ranks.size() * 40);
    write_header();
    write_collective();
    for (std::size_t r = 0; r < a_.ranks.size(); ++r) write_rank(r);
    return std::move(out_);
  }

 private:
  void number(std::int64_t value) {
    char buffer[24];
    out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }

  void write_header() {
    out_ += fmt::format("algorithm {} proto={} channels={}", quote(a_.name),
                        protocol_name(a_.protocol), a_.num_channels);
    if (a_.chunks_per_loop != a_.collective.chunks_per_loop()) {
      out_ += fmt::format(" chunks={}", a_.chunks_per_loop);
    }
    if (a_.in_place) out_ += " in_place";
    if (a_.in_place && a_.out_of_place) out_ += " out_of_place";
    if (!a_.in_place && !a_.out_of_place) out_ += " nowhere";
    if (a_.min_bytes != 0) out_ += fmt::format(" min={}", a_.min_bytes);
    if (a_.max_bytes) out_ += fmt::format(" max={}", *a_.max_bytes);
    if (a_.num_threads) out_ += fmt::format(" threads={}", *a_.num_threads);
    out_ += '\n';
  }

  void write_collective() {
    const Collective& c = a_.collective;
    const bool is_custom = c.kind() == CollectiveKind::custom;
    if (is_custom && c.custom() == nullptr) {
      out_ += "collective none\n";
      return;
    }
    out_ += fmt::format("collective {}", collective_kind_name(c.kind()));
    if (is_custom) out_ += fmt::format(" {}", quote(c.name()));
    out_ += fmt::format(" ranks={} factor={}", c.num_ranks(), c.chunk_factor() / c.split());
    if (c.split() != 1) out_ += fmt::format(" split={}", c.split());
    if (has_root(c.kind())) out_ += fmt::format(" root={}", c.root());
    if (c.in_place() != (a_.in_place && !a_.out_of_place)) {
      out_ += c.in_place() ? " aliased" : " separate";
    }
    if (is_custom && !c.has_postcondition()) out_ += " no_postcondition";
    out_ += '\n';
    if (is_custom) write_custom(*c.custom());
  }

  void write_custom(const CustomCollective& custom) {
    for (int r = 0; r < a_.collective.num_ranks(); ++r) {
      const CustomCollective::RankSlots& slots = custom.rank(r);
      out_ +=
          fmt::format("  buffers {} in={} out={}\n", r, slots.input_chunks, slots.output_chunks);
      for (const SlotRun& run : held_runs(slots)) write_slots("holds", r, run);
      for (const SlotRun& run : wanted_runs(slots)) write_slots("wants", r, run);
    }
  }

  void write_slots(std::string_view verb, int rank, const SlotRun& run) {
    out_ += fmt::format("    {} {} {}[{}]", verb, rank, buffer_kind_letter(run.buffer), run.first);
    if (run.count != 1) out_ += fmt::format(" cnt={}", run.count);
    out_ += " =";
    for (const OriginRun& o : run.origins) {
      out_ += o.first_rank == o.last_rank
                  ? fmt::format(" {}:{}", o.first_rank, o.index)
                  : fmt::format(" {}-{}:{}", o.first_rank, o.last_rank, o.index);
    }
    out_ += '\n';
  }

  void write_rank(std::size_t r) {
    const RankProgram& rank = a_.ranks[r];
    out_ += fmt::format("rank {} in={} out={} scratch={}\n", r, rank.input_chunks,
                        rank.output_chunks, rank.scratch_chunks);
    for (std::size_t t = 0; t < rank.threadblocks.size(); ++t) {
      const ThreadBlock& tb = rank.threadblocks[t];
      out_ += fmt::format("  tb {}", t);
      if (tb.send != -1) out_ += fmt::format(" send={}", tb.send);
      if (tb.recv != -1) out_ += fmt::format(" recv={}", tb.recv);
      out_ += fmt::format(" chan={}\n", tb.channel);
      for (std::uint32_t i = 0; i < tb.num_steps; ++i) write_step(tb.first_step + i);
    }
  }

  void operand(BufferKind buffer, std::int32_t offset) {
    constexpr char kLetters[] = {'i', 'o', 's'};
    out_ += ' ';
    out_ += kLetters[static_cast<std::size_t>(buffer)];
    out_ += '[';
    number(offset);
    out_ += ']';
  }

  void write_step(std::uint32_t index) {
    const Step& step = a_.steps[index];
    const Step unsaid;  // a nop names no chunks
    const bool is_nop = step.op == OpCode::nop;
    const std::string_view name = op_info(step.op).name;
    out_ += "    ";
    out_ += name;
    const bool operands =
        !is_nop || step.src_buffer != unsaid.src_buffer || step.src_offset != unsaid.src_offset ||
        step.dst_buffer != unsaid.dst_buffer || step.dst_offset != unsaid.dst_offset;
    if (operands) {
      out_.append(4 - name.size(), ' ');
      operand(step.src_buffer, step.src_offset);
      if (step.src_buffer != step.dst_buffer || step.src_offset != step.dst_offset) {
        out_ += " ->";
        operand(step.dst_buffer, step.dst_offset);
      }
    }
    if (step.count != (is_nop ? 0 : 1)) {
      out_ += " cnt=";
      number(step.count);
    }
    if (step.depend_tb != -1 || step.depend_step != -1) {
      out_ += " after=";
      number(step.depend_tb);
      out_ += ':';
      number(step.depend_step);
    }
    if (step.has_dependent) out_ += " signals";
    if (!a_.step_locations.empty() && a_.step_locations[index] != 0) {
      write_location(a_.locations[a_.step_locations[index]]);
    }
    out_ += '\n';
  }

  void write_location(const Location& where) {
    const bool plain =
        !where.file.empty() && std::none_of(where.file.begin(), where.file.end(), [](char c) {
          return c == '"' || c == '#' || static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
        });
    out_ += " @";
    out_ += plain ? where.file : quote(where.file);
    out_ += ':';
    number(where.line);
  }

  const Algorithm& a_;
  std::string out_;
};

}  // namespace

std::string to_text(const Algorithm& algorithm) { return TextWriter(algorithm).write(); }

}  // namespace hocket
