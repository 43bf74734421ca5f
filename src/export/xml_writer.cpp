// Writes an algorithm as the XML that each runtime loads.
//
// The loaders are hand-written readers of a small subset of XML: one space between attributes,
// double quotes, no entities, no declaration, no tabs. Everything here stays inside it.
//
// A million steps are 140 MB of ten attributes a line, so a step is put together from its literal
// pieces in a local buffer and appended at once; the text is the only thing kept.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "export/custom_slots.h"
#include "export/xml_names.h"
#include "hocket/format.h"
#include "support/big_vector.h"

namespace hocket {
namespace {

constexpr std::size_t kLongestStep = 320;   // every number at its longest
constexpr std::size_t kUsualStep = 150;     // what is reserved for one
constexpr std::size_t kShortestStep = 115;  // every number of one digit
constexpr std::size_t kLongestValue = 255;  // the loaders' value buffers

// A line being put together. The caller guarantees room.
class Line {
 public:
  template <std::size_t N>
  Line& text(const char (&literal)[N]) {
    std::memcpy(end_, literal, N - 1);
    end_ += N - 1;
    return *this;
  }
  Line& text(std::string_view s) {
    std::memcpy(end_, s.data(), s.size());
    end_ += s.size();
    return *this;
  }
  Line& letter(char c) {
    *end_++ = c;
    return *this;
  }
  Line& number(std::int32_t value) {
    if (value >= 0 && value < 10) return letter(static_cast<char>('0' + value));
    end_ = std::to_chars(end_, buffer_ + sizeof buffer_, value).ptr;
    return *this;
  }
  void flush_to(std::string& out) {
    out.append(buffer_, static_cast<std::size_t>(end_ - buffer_));
    end_ = buffer_;
  }

 private:
  char buffer_[kLongestStep];
  char* end_ = buffer_;
};

// As an attribute value of real XML.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("&#{};", static_cast<int>(c));
        } else {
          out += c;
        }
    }
  }
  return out;
}

// A free text as this target's reader keeps it.
std::string value_for(Target target, std::string_view what, std::string_view value) {
  if (value.find('\0') != std::string_view::npos) {
    throw Error(Code::NameTooLong,
                fmt::format("{} with a NUL character, which XML cannot hold", what), {},
                "rename it");
  }
  if (target == Target::hocket) return escaped(value);
  if (value.size() > kLongestValue) {
    throw Error(Code::NameTooLong,
                fmt::format("{} of {} characters, but the reader of {} keeps {}", what,
                            value.size(), target_name(target), kLongestValue),
                {}, "give it a shorter name");
  }
  const auto bad = std::find_if(value.begin(), value.end(), [](char c) {
    return c == '&' || c == '<' || c == '"' || static_cast<unsigned char>(c) < 0x20;
  });
  if (bad != value.end()) {
    throw Error(
        Code::NameTooLong,
        fmt::format("{} \"{}\" has the character {}, which the reader of {} cannot keep: it "
                    "knows no escapes",
                    what, escaped(value), escaped(std::string_view(&*bad, 1)), target_name(target)),
        {}, "use letters, digits, '_', '-' and '.'");
  }
  return std::string(value);
}

class Writer {
 public:
  Writer(const Algorithm& algorithm, Target target) : a_(algorithm), target_(target) {}

  std::string write() {
    check_sizes();
    reserve_big(out_,
                512 + a_.steps.size() * kUsualStep + a_.ranks.size() * 80 + threadblocks() * 64,
                a_.steps.size() * kShortestStep);
    write_root();
    if (target_ == Target::hocket) {
      if (a_.collective.kind() == CollectiveKind::custom) write_collective();
      write_sources();
    }
    for (std::size_t r = 0; r < a_.ranks.size(); ++r) write_rank(r);
    out_ += "</algo>\n";
    return std::move(out_);
  }

 private:
  std::size_t threadblocks() const {
    std::size_t n = 0;
    for (const RankProgram& rank : a_.ranks) n += rank.threadblocks.size();
    return n;
  }

  void check_sizes() const {
    if (a_.min_bytes < 0 || (a_.max_bytes && (*a_.max_bytes < 1 || *a_.max_bytes < a_.min_bytes))) {
      throw Error(
          Code::BadSizeRange,
          fmt::format("message sizes from {} to {} bytes, expected a range with at least one "
                      "size above 0",
                      a_.min_bytes, a_.max_bytes.value_or(0)));
    }
  }

  void write_root() {
    const CollectiveKind kind = a_.collective.kind();
    const auto coll = target_collective_name(target_, kind);
    if (!coll) {
      throw Error(Code::UnsupportedCollective,
                  fmt::format("{} has no name for the collective {}", target_name(target_),
                              collective_kind_name(kind)),
                  {}, "convert to another target, or use it with Hocket's own runtime");
    }
    if (target_ == Target::msccl && kind == CollectiveKind::alltoall && a_.name == "2D") {
      throw Error(
          Code::NameTooLong,
          "an alltoall named \"2D\", by which MSCCL runs its own two-phase algorithm instead "
          "of these steps",
          {}, "give it another name");
    }
    out_ += fmt::format(
        "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
        "coll=\"{}\" inplace=\"{}\"",
        value_for(target_, "an algorithm name", a_.name), protocol_name(a_.protocol),
        a_.num_channels, a_.chunks_per_loop, a_.ranks.size(), *coll, a_.in_place ? 1 : 0);
    if (target_ == Target::msccl) {
      write_msccl_sizes();
    } else {
      out_ += fmt::format(" outofplace=\"{}\" minBytes=\"{}\" maxBytes=\"{}\"",
                          a_.out_of_place ? 1 : 0, a_.min_bytes, a_.max_bytes.value_or(0));
    }
    if (a_.num_threads && (target_ == Target::msccl || target_ == Target::hocket)) {
      out_ += fmt::format(" nthreads=\"{}\"", *a_.num_threads);
    }
    if (target_ == Target::hocket) {
      if (has_root(kind)) out_ += fmt::format(" root=\"{}\"", a_.collective.root());
      // Said only where it is not what the two placement flags say.
      if (a_.collective.in_place() != (a_.in_place && !a_.out_of_place)) {
        out_ += fmt::format(" aliased=\"{}\"", a_.collective.in_place() ? 1 : 0);
      }
    }
    out_ += ">\n";
  }

  // MSCCL's maxBytes is exclusive and defaults to 128 MiB. It allocates every file's scratch for
  // maxBytes at start-up, so "no limit" can only be written where there is no scratch; elsewhere
  // the default stands.
  void write_msccl_sizes() {
    constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
    const bool scratch = std::any_of(a_.ranks.begin(), a_.ranks.end(),
                                     [](const RankProgram& r) { return r.scratch_chunks > 0; });
    if (a_.max_bytes || !scratch || a_.min_bytes > 0) {
      out_ += fmt::format(" minBytes=\"{}\"", a_.min_bytes);
    }
    if (a_.max_bytes) {
      out_ += fmt::format(" maxBytes=\"{}\"",
                          *a_.max_bytes == kUnlimited ? kUnlimited : *a_.max_bytes + 1);
    } else if (!scratch) {
      out_ += fmt::format(" maxBytes=\"{}\"", kUnlimited);
    }
  }

  void write_collective() {
    const CustomCollective* custom = a_.collective.custom();
    if (custom == nullptr) return;  // an algorithm made by hand that does not say what it computes
    const int split = a_.collective.split();
    out_ += fmt::format(
        "  <collective name=\"{}\" factor=\"{}\" split=\"{}\" postcondition=\"{}\">\n",
        value_for(target_, "a collective name", a_.collective.name()),
        a_.collective.chunk_factor() / split, split, a_.collective.has_postcondition() ? 1 : 0);
    for (int r = 0; r < a_.collective.num_ranks(); ++r) {
      const CustomCollective::RankSlots& slots = custom->rank(r);
      out_ += fmt::format("    <rank id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\"", r,
                          slots.input_chunks, slots.output_chunks);
      const std::vector<SlotRun> held = held_runs(slots);
      const std::vector<SlotRun> wanted = wanted_runs(slots);
      if (held.empty() && wanted.empty()) {
        out_ += "/>\n";
        continue;
      }
      out_ += ">\n";
      for (const SlotRun& run : held) write_slots("hold", run);
      for (const SlotRun& run : wanted) write_slots("want", run);
      out_ += "    </rank>\n";
    }
    out_ += "  </collective>\n";
  }

  void write_slots(std::string_view tag, const SlotRun& run) {
    out_ += fmt::format("      <{} buf=\"{}\" off=\"{}\" cnt=\"{}\">", tag,
                        buffer_kind_letter(run.buffer), run.first, run.count);
    for (const OriginRun& o : run.origins) {
      out_ += o.first_rank == o.last_rank
                  ? fmt::format("<from rank=\"{}\" index=\"{}\"/>", o.first_rank, o.index)
                  : fmt::format("<from rank=\"{}\" last=\"{}\" index=\"{}\"/>", o.first_rank,
                                o.last_rank, o.index);
    }
    out_ += fmt::format("</{}>\n", tag);
  }

  void write_sources() {
    if (a_.step_locations.empty()) return;
    out_ += "  <sources>\n";
    for (std::size_t i = 1; i < a_.locations.size(); ++i) {
      out_ += fmt::format("    <source id=\"{}\" file=\"{}\" line=\"{}\"/>\n", i,
                          value_for(target_, "a source file name", a_.locations[i].file),
                          a_.locations[i].line);
    }
    out_ += "  </sources>\n";
  }

  void write_rank(std::size_t r) {
    const RankProgram& rank = a_.ranks[r];
    out_ += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\"", r,
                        rank.input_chunks, rank.output_chunks, rank.scratch_chunks);
    if (rank.threadblocks.empty()) {
      out_ += "/>\n";
      return;
    }
    out_ += ">\n";
    for (std::size_t t = 0; t < rank.threadblocks.size(); ++t) {
      const ThreadBlock& tb = rank.threadblocks[t];
      line_.text("    <tb id=\"").number(static_cast<std::int32_t>(t));
      line_.text("\" send=\"").number(tb.send);
      line_.text("\" recv=\"").number(tb.recv);
      line_.text("\" chan=\"").number(tb.channel);
      if (tb.num_steps == 0) {
        line_.text("\"/>\n").flush_to(out_);
        continue;
      }
      line_.text("\">\n").flush_to(out_);
      write_steps(tb);
      out_ += "    </tb>\n";
    }
    out_ += "  </gpu>\n";
  }

  void write_steps(const ThreadBlock& tb) {
    constexpr char kLetters[] = {'i', 'o', 's'};
    const bool with_lines = target_ == Target::hocket && !a_.step_locations.empty();
    for (std::uint32_t i = 0; i < tb.num_steps; ++i) {
      const Step& step = a_.steps[tb.first_step + i];
      line_.text("      <step s=\"").number(static_cast<std::int32_t>(i));
      line_.text("\" type=\"").text(op_info(step.op).name);
      line_.text("\" srcbuf=\"").letter(kLetters[static_cast<std::size_t>(step.src_buffer)]);
      line_.text("\" srcoff=\"").number(step.src_offset);
      line_.text("\" dstbuf=\"").letter(kLetters[static_cast<std::size_t>(step.dst_buffer)]);
      line_.text("\" dstoff=\"").number(step.dst_offset);
      line_.text("\" cnt=\"").number(step.count);
      line_.text("\" depid=\"").number(step.depend_tb);
      line_.text("\" deps=\"").number(step.depend_step);
      line_.text("\" hasdep=\"").letter(step.has_dependent ? '1' : '0');
      if (with_lines && a_.step_locations[tb.first_step + i] != 0) {
        line_.text("\" line=\"");
        line_.number(static_cast<std::int32_t>(a_.step_locations[tb.first_step + i]));
      }
      line_.text("\"/>\n").flush_to(out_);
    }
  }

  const Algorithm& a_;
  Target target_;
  std::string out_;
  Line line_;
};

}  // namespace

std::string to_xml(const Algorithm& algorithm, const XmlOptions& options) {
  return Writer(algorithm, options.target).write();
}

}  // namespace hocket
