// Algorithms as light views: a rank, a threadblock or a step points into the algorithm it is of.
#include "algorithm.h"

#include <nanobind/stl/map.h>

#include <map>

#include "hocket/format.h"
#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

struct RankView {
  AlgorithmPtr algorithm;
  std::size_t rank = 0;
  const RankProgram& get() const { return algorithm->ranks[rank]; }
};

struct ThreadBlockView {
  AlgorithmPtr algorithm;
  std::size_t rank = 0;
  std::size_t id = 0;
  const ThreadBlock& get() const { return algorithm->ranks[rank].threadblocks[id]; }
};

struct StepView {
  AlgorithmPtr algorithm;
  std::uint32_t index = 0;
  const Step& get() const { return algorithm->steps[index]; }
};

std::vector<RankView> ranks_of(const BoundAlgorithm& a) {
  std::vector<RankView> views;
  for (std::size_t r = 0; r < a.algorithm->ranks.size(); ++r) views.push_back({a.algorithm, r});
  return views;
}

std::string step_text(const Step& step) {
  const auto place = [](BufferKind buffer, int offset) {
    return std::string(1, buffer_kind_letter(buffer)) + "[" + std::to_string(offset) + "]";
  };
  const OpInfo& info = op_info(step.op);
  std::string text(info.name);
  if (info.reads_src) text += " src " + place(step.src_buffer, step.src_offset);
  if (info.writes_dst) text += " dst " + place(step.dst_buffer, step.dst_offset);
  if (step.count > 0) text += " count " + std::to_string(step.count);
  if (step.depend_tb >= 0) {
    text +=
        " after tb " + std::to_string(step.depend_tb) + " step " + std::to_string(step.depend_step);
  }
  return text;
}

void register_views(nb::module_& m) {
  nb::class_<StepView>(m, "Step", "One instruction of a threadblock.")
      .def_prop_ro(
          "op", [](const StepView& s) { return op_info(s.get().op).name; },
          "'s', 'r', 'rcs', 'rrs', 'rrc', 'rrcs', 'cpy', 're' or 'nop'.")
      .def_prop_ro("src_buffer", [](const StepView& s) { return buffer_of(s.get().src_buffer); })
      .def_prop_ro("src_offset", [](const StepView& s) { return s.get().src_offset; })
      .def_prop_ro("dst_buffer", [](const StepView& s) { return buffer_of(s.get().dst_buffer); })
      .def_prop_ro("dst_offset", [](const StepView& s) { return s.get().dst_offset; })
      .def_prop_ro("count", [](const StepView& s) { return s.get().count; })
      .def_prop_ro(
          "depend_tb", [](const StepView& s) { return s.get().depend_tb; },
          "The threadblock of this rank that it waits for; -1: none.")
      .def_prop_ro("depend_step", [](const StepView& s) { return s.get().depend_step; })
      .def_prop_ro("has_dependent", [](const StepView& s) { return s.get().has_dependent; })
      .def_prop_ro(
          "location", [](const StepView& s) { return s.algorithm->location_of(s.index); },
          "The user's line that it comes from.")
      .def("__repr__", [](const StepView& s) { return "<Step " + step_text(s.get()) + ">"; });

  nb::class_<ThreadBlockView>(m, "ThreadBlock",
                              "Steps that run in order, with at most one peer each way.")
      .def_ro("id", &ThreadBlockView::id)
      .def_prop_ro(
          "send", [](const ThreadBlockView& t) { return t.get().send; },
          "The rank it sends to; -1: none.")
      .def_prop_ro("recv", [](const ThreadBlockView& t) { return t.get().recv; })
      .def_prop_ro("channel", [](const ThreadBlockView& t) { return t.get().channel; })
      .def_prop_ro("steps",
                   [](const ThreadBlockView& t) {
                     std::vector<StepView> views;
                     for (std::uint32_t i = 0; i < t.get().num_steps; ++i) {
                       views.push_back({t.algorithm, t.get().first_step + i});
                     }
                     return views;
                   })
      .def("__len__", [](const ThreadBlockView& t) { return t.get().num_steps; })
      .def("__repr__", [](const ThreadBlockView& t) {
        return nb::str("<ThreadBlock {} of rank {}: send {}, recv {}, channel {}, {} steps>")
            .format(t.id, t.rank, t.get().send, t.get().recv, t.get().channel, t.get().num_steps);
      });

  nb::class_<RankView>(m, "Rank", "What one rank runs.")
      .def_ro("rank", &RankView::rank)
      .def_prop_ro("input_chunks", [](const RankView& r) { return r.get().input_chunks; })
      .def_prop_ro("output_chunks", [](const RankView& r) { return r.get().output_chunks; })
      .def_prop_ro("scratch_chunks", [](const RankView& r) { return r.get().scratch_chunks; })
      .def_prop_ro("threadblocks",
                   [](const RankView& r) {
                     std::vector<ThreadBlockView> views;
                     for (std::size_t t = 0; t < r.get().threadblocks.size(); ++t) {
                       views.push_back({r.algorithm, r.rank, t});
                     }
                     return views;
                   })
      .def("__repr__", [](const RankView& r) {
        return nb::str("<Rank {}: {} threadblocks>").format(r.rank, r.get().threadblocks.size());
      });
}

void register_stats(nb::module_& m) {
  nb::class_<AlgorithmStats>(m, "AlgorithmStats", "Shape of an algorithm.")
      .def_ro("ranks", &AlgorithmStats::ranks)
      .def_ro("threadblocks", &AlgorithmStats::threadblocks)
      .def_ro("max_threadblocks_of_rank", &AlgorithmStats::max_threadblocks_of_rank)
      .def_ro("channels", &AlgorithmStats::channels)
      .def_ro("steps", &AlgorithmStats::steps, "Nops included, as the XML lists them.")
      .def_ro("max_steps_of_threadblock", &AlgorithmStats::max_steps_of_threadblock)
      .def_prop_ro("steps_by_op",
                   [](const AlgorithmStats& s) {
                     std::map<std::string, std::int64_t> counts;
                     for (int op = 0; op < kNumOps; ++op) {
                       if (s.steps_by_op[op] == 0) continue;
                       counts.emplace(op_info(static_cast<OpCode>(op)).name, s.steps_by_op[op]);
                     }
                     return counts;
                   })
      .def_ro("nops", &AlgorithmStats::nops)
      .def_ro("dependences", &AlgorithmStats::dependences)
      .def_ro("max_scratch_chunks", &AlgorithmStats::max_scratch_chunks)
      .def_ro("critical_path", &AlgorithmStats::critical_path,
              "Longest chain of steps, by order, dependence and message; -1: deadlocked.")
      .def("__repr__", [](const AlgorithmStats& s) {
        return nb::str("<AlgorithmStats: {} ranks, {} threadblocks, {} channels, {} steps>")
            .format(s.ranks, s.threadblocks, s.channels, s.steps);
      });
}

// Where a reader puts what is worth a warning. Python's warnings are raised after the reader is
// done, since a warning may become an exception.
struct Warnings {
  std::vector<Diagnostic> list;
  DiagnosticSink sink() {
    return [this](const Diagnostic& d) { list.push_back(d); };
  }
  void emit() const {
    for (const Diagnostic& d : list) emit_warning(d);
  }
};

// The text is what was asked for; that nothing will run it must not stay unsaid.
std::string xml_for(const Algorithm& algorithm, Target target) {
  std::string text = to_xml(algorithm, {target});
  std::vector<Diagnostic> broken = check_limits(algorithm, target, 1);
  if (broken.empty()) return text;
  Diagnostic first = std::move(broken.front());
  first.severity = Severity::warning;
  for (std::size_t i = 1; i < broken.size(); ++i) {
    first.notes.push_back({std::move(broken[i].message), broken[i].where});
  }
  emit_warning(first);
  return text;
}

void register_formats(nb::module_& m) {
  m.def(
      "to_xml",
      [](const BoundAlgorithm& a, std::string_view target) {
        return xml_for(*a.algorithm, parse_target(target));
      },
      "algorithm"_a, "target"_a = "msccl",
      "The XML that `target` loads; a warning (HK04xx) where it would not run it.",
      nb::sig("def to_xml(algorithm: Algorithm, target: typing.Literal['msccl', 'msccl-executor', "
              "'rccl', 'hocket'] = 'msccl') -> str"));
  m.def(
      "to_text", [](const BoundAlgorithm& a) { return to_text(*a.algorithm); }, "algorithm"_a,
      "The compact text form, complete: ``from_text(to_text(a)) == a``.");
  m.def(
      "from_xml",
      [](std::string_view text, std::string file) {
        Warnings warnings;
        BoundAlgorithm a{from_xml(text, std::move(file), warnings.sink())};
        warnings.emit();
        return a;
      },
      "text"_a, "file"_a = "<xml>", "Reads XML of any of the dialects. `file` is for messages.");
  m.def(
      "from_text",
      [](std::string_view text, std::string file) {
        return BoundAlgorithm{from_text(text, std::move(file))};
      },
      "text"_a, "file"_a = "<text>");
  m.def(
      "from_any",
      [](std::string_view text, std::string file) {
        Warnings warnings;
        BoundAlgorithm a{from_any(text, std::move(file), warnings.sink())};
        warnings.emit();
        return a;
      },
      "text"_a, "file"_a = "<text>", "XML where the text starts with '<', else the text form.");
}

}  // namespace

void register_algorithm(nb::module_& m) {
  register_views(m);
  register_stats(m);

  nb::class_<BoundAlgorithm>(m, "Algorithm",
                             "A compiled algorithm: what each rank's threadblocks run. Made by "
                             "compile() and the readers; never changes.")
      .def_prop_ro("name", [](const BoundAlgorithm& a) { return a.algorithm->name; })
      .def_prop_ro(
          "collective", [](const BoundAlgorithm& a) { return a.algorithm->collective; },
          "What it computes; its chunk counts include the instances.")
      .def_prop_ro("protocol",
                   [](const BoundAlgorithm& a) { return protocol_name(a.algorithm->protocol); })
      .def_prop_ro("in_place", [](const BoundAlgorithm& a) { return a.algorithm->in_place; })
      .def_prop_ro("out_of_place",
                   [](const BoundAlgorithm& a) { return a.algorithm->out_of_place; })
      .def_prop_ro("num_channels",
                   [](const BoundAlgorithm& a) { return a.algorithm->num_channels; })
      .def_prop_ro("chunks_per_loop",
                   [](const BoundAlgorithm& a) { return a.algorithm->chunks_per_loop; })
      .def_prop_ro("min_bytes", [](const BoundAlgorithm& a) { return a.algorithm->min_bytes; })
      .def_prop_ro("max_bytes", [](const BoundAlgorithm& a) { return a.algorithm->max_bytes; })
      .def_prop_ro("num_ranks", [](const BoundAlgorithm& a) { return a.algorithm->num_ranks(); })
      .def_prop_ro("ranks", &ranks_of)
      .def(
          "stats", [](const BoundAlgorithm& a) { return stats(*a.algorithm); },
          "Counts of threadblocks, channels, steps, ... Linear in steps.")
      .def(
          "to_xml",
          [](const BoundAlgorithm& a, std::string_view target) {
            return xml_for(*a.algorithm, parse_target(target));
          },
          "target"_a = "msccl",
          "The XML that `target` loads; a warning (HK04xx) where it would not run it.",
          nb::sig("def to_xml(self, target: typing.Literal['msccl', 'msccl-executor', 'rccl', "
                  "'hocket'] = 'msccl') -> str"))
      .def("to_text", [](const BoundAlgorithm& a) { return to_text(*a.algorithm); })
      .def("__eq__", [](const BoundAlgorithm& a,
                        const BoundAlgorithm& b) { return *a.algorithm == *b.algorithm; })
      .def("__eq__", [](const BoundAlgorithm&, const nb::object&) { return false; })
      .def("__repr__", [](const BoundAlgorithm& a) {
        return nb::str("<Algorithm {!r}: {} on {} ranks, {} steps>")
            .format(a.algorithm->name, a.algorithm->collective.name(), a.algorithm->num_ranks(),
                    a.algorithm->steps.size());
      });

  register_formats(m);
}

}  // namespace hocket::python
