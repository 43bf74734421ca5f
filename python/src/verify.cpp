// verify(): is an algorithm right? Its report as Python values, and the user's own check.
#include "hocket/verify.h"

#include <nanobind/stl/map.h>

#include <map>
#include <memory>

#include "algorithm.h"
#include "hocket/format.h"
#include "verify.h"
#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

using Findings = std::vector<Finding>;

nb::object place_or_none(const StepPlace& place) {
  return place == StepPlace{} ? nb::none() : nb::cast(place);
}

void register_finding(nb::module_& m) {
  nb::class_<StepPlace>(m, "StepPlace",
                        "A step by its position: rank, threadblock id, number in the threadblock "
                        "(nops counted); -1: no particular one.")
      .def_ro("rank", &StepPlace::rank)
      .def_ro("tb", &StepPlace::tb)
      .def_ro("step", &StepPlace::step)
      .def("__eq__", [](const StepPlace& a, const StepPlace& b) { return a == b; })
      .def("__eq__", [](const StepPlace&, const nb::object&) { return false; })
      .def("__hash__",
           [](const StepPlace& p) { return nb::hash(nb::make_tuple(p.rank, p.tb, p.step)); })
      .def("__str__", [](const StepPlace& p) { return str(p); })
      .def("__repr__", [](const StepPlace& p) { return "<StepPlace " + str(p) + ">"; });

  nb::class_<Finding>(m, "Finding",
                      "One thing that is wrong, or wasted. ``str()`` is the diagnostic as the "
                      "command line prints it.")
      .def_ro("diagnostic", &Finding::diagnostic)
      .def_prop_ro(
          "code", [](const Finding& f) { return code_text(f.diagnostic.code); },
          "The stable code, as 'HK1005'.")
      .def_prop_ro("message", [](const Finding& f) { return f.diagnostic.message; })
      .def_prop_ro(
          "location", [](const Finding& f) { return f.diagnostic.where; },
          "The user's line, where the algorithm knows it.")
      .def_prop_ro(
          "at", [](const Finding& f) { return place_or_none(f.at); },
          nb::sig("def at(self) -> StepPlace | None"), "The step it is about.")
      .def_prop_ro(
          "buffer",
          [](const Finding& f) -> nb::object {
            return f.buffer ? nb::cast(buffer_of(*f.buffer)) : nb::none();
          },
          nb::sig("def buffer(self) -> Buffer | None"),
          "With `index` the chunk it is about, under the name that the step uses.")
      .def_prop_ro("index",
                   [](const Finding& f) -> std::optional<int> {
                     if (!f.buffer) return std::nullopt;
                     return f.index;
                   })
      .def_ro("expected", &Finding::expected, "Contents in words; '' where nothing is compared.")
      .def_ro("found", &Finding::found)
      .def_ro(
          "chain", &Finding::chain,
          "Steps that explain it: the way of a wrong value, the circle of a deadlock, the other "
          "access of a race.")
      .def_ro("saves", &Finding::saves, "Of waste: how many steps, dependences or chunks.")
      .def("__str__", [](const Finding& f) { return render(f.diagnostic); })
      .def("__repr__", [](const Finding& f) {
        return "<Finding " + std::string(code_text(f.diagnostic.code)) + ": " +
               f.diagnostic.message + ">";
      });
}

void register_rulings(nb::module_& m) {
  const auto ruling_sig = "def ruling(self) -> typing.Literal['proved', 'refuted', 'undecided']";
  nb::class_<PropertyRuling>(m, "PropertyRuling", "What was decided of one property, and why.")
      .def_prop_ro(
          "ruling", [](const PropertyRuling& r) { return ruling_name(r.ruling); },
          nb::sig(ruling_sig))
      .def_ro("summary", &PropertyRuling::summary)
      .def_ro("findings", &PropertyRuling::findings, "At most `max_findings` of them.")
      .def_ro("num_findings", &PropertyRuling::num_findings, "All of them.")
      .def("__repr__", [](const PropertyRuling& r) {
        return "<PropertyRuling " + std::string(ruling_name(r.ruling)) + ": " + r.summary + ">";
      });

  nb::class_<SumOrder>(m, "SumOrder", "How one sum is added up, and where it ends.")
      .def_ro("order", &SumOrder::order, "As '((in0+in1)+in2) of chunk 3'.")
      .def_prop_ro(
          "places",
          [](const SumOrder& o) {
            nb::list places;
            for (const SumOrder::Place& p : o.places) {
              places.append(nb::make_tuple(p.rank, buffer_of(p.slot.buffer), p.slot.index));
            }
            return places;
          },
          nb::sig("def places(self) -> list[tuple[int, Buffer, int]]"),
          "(rank, buffer, index) of every slot that holds it.")
      .def("__repr__", [](const SumOrder& o) { return "<SumOrder " + o.order + ">"; });

  nb::class_<PlacementReport>(m, "PlacementReport", "All properties of one way to call it.")
      .def_ro("in_place", &PlacementReport::in_place)
      .def_prop_ro(
          "ruling", [](const PlacementReport& r) { return ruling_name(r.ruling); },
          nb::sig(ruling_sig))
      .def_prop_ro(
          "properties",
          [](const PlacementReport& r) {
            nb::dict all;  // in order
            for (int k = 0; k < kNumProperties; ++k) {
              const auto property = static_cast<Property>(k);
              all[property_name(property).data()] = nb::cast(r.of(property));
            }
            return all;
          },
          nb::sig("def properties(self) -> dict[str, PropertyRuling]"),
          "By name: 'structure', 'deadlock', 'races', 'initialised', 'postcondition', 'same-bits'.")
      .def_ro(
          "least_slots", &PlacementReport::least_slots,
          "Slots of every connection with which it ends; 0: a sender may wait for its receiver.")
      .def_ro("largest_safe_bytes", &PlacementReport::largest_safe_bytes,
              "Where the range of sizes is not free of deadlock: the largest message that is.")
      .def_ro("orders", &PlacementReport::orders,
              "In which order every element of the result is added up; only if asked for.")
      .def("__repr__", [](const PlacementReport& r) {
        return std::string("<PlacementReport ") + (r.in_place ? "in place: " : "out of place: ") +
               std::string(ruling_name(r.ruling)) + ">";
      });
}

// The first thing that is wrong, as the error that it would have been; of what was not decided,
// why.
void require(const VerifyReport& report) {
  const auto refuse = [&](const PropertyRuling& ruling, const std::string& what) {
    if (ruling.ruling == Ruling::proved) return;
    if (!ruling.findings.empty()) {
      Diagnostic first = ruling.findings.front().diagnostic;
      first.severity = Severity::error;
      if (!first.where.known()) first.where = here();
      throw Error(std::move(first));
    }
    throw Error(ruling.ruling == Ruling::refuted ? Code::WrongContent : Code::NoPostcondition,
                report.name + ": " + what + ": " + std::string(ruling_name(ruling.ruling)) + ": " +
                    ruling.summary,
                here(), "print the report to see every property");
  };
  // What is refuted before what is only open.
  for (const Ruling wanted : {Ruling::refuted, Ruling::undecided}) {
    for (const PlacementReport& placement : report.placements) {
      if (placement.ruling != wanted) continue;
      for (int k = 0; k < kNumProperties; ++k) {
        const auto property = static_cast<Property>(k);
        const PropertyRuling& ruling = placement.of(property);
        if (ruling.ruling == wanted) refuse(ruling, std::string(property_name(property)));
      }
    }
    if (!report.target_asked) continue;
    for (const TargetRuling& target : report.targets) {
      if (target.ruling.ruling == wanted) {
        refuse(target.ruling, std::string(target_name(target.target)));
      }
    }
  }
}

void register_report(nb::module_& m) {
  nb::class_<VerifyReport>(m, "VerifyReport",
                           "What verify() decided. True when everything is proved; ``str()`` is "
                           "what `hocket verify` prints.")
      .def_ro("name", &VerifyReport::name)
      .def_prop_ro(
          "ruling", [](const VerifyReport& r) { return ruling_name(r.ruling()); },
          nb::sig("def ruling(self) -> typing.Literal['proved', 'refuted', 'undecided']"))
      .def_ro("placements", &VerifyReport::placements, "In place, out of place, or both.")
      .def_prop_ro(
          "targets",
          [](const VerifyReport& r) {
            nb::dict all;
            for (const TargetRuling& t : r.targets) {
              all[target_name(t.target).data()] = nb::cast(t.ruling);
            }
            return all;
          },
          nb::sig("def targets(self) -> dict[str, PropertyRuling]"),
          "Would it load and run there? Of the target asked about, or of all.")
      .def_ro("target_asked", &VerifyReport::target_asked, "Whether the target counts in `ruling`.")
      .def_ro("waste", &VerifyReport::waste, "What could be left out, as findings.")
      .def_ro("num_waste", &VerifyReport::num_waste)
      .def("require", &require,
           "Raises hocket.Error, of the first thing that is wrong or not decided, unless proved.")
      .def(
          "to_json", [](const VerifyReport& r) { return to_json(r); },
          "The report for programs; docs/verification.md describes it.")
      .def("__bool__", [](const VerifyReport& r) { return r.ruling() == Ruling::proved; })
      .def("__str__",
           [](const VerifyReport& r) {
             std::string text = r.str();
             if (!text.empty() && text.back() == '\n') text.pop_back();
             return text;
           })
      .def("__repr__", [](const VerifyReport& r) {
        return "<VerifyReport " + r.name + ": " + std::string(ruling_name(r.ruling())) + ">";
      });
}

void register_contents(nb::module_& m) {
  nb::class_<BoundContents>(m, "FinalContents",
                            "What the input and output buffers hold at the end, in every schedule. "
                            "Handed to the `check` of verify(), and of use only inside it.")
      .def_prop_ro(
          "collective", [](const BoundContents& c) { return c.get().collective(); },
          "The algorithm's; its chunk counts and origins include the instances.")
      .def_prop_ro("in_place", [](const BoundContents& c) { return c.get().in_place(); })
      .def(
          "content",
          [](const BoundContents& c, int rank, const nb::object& buffer,
             int index) -> std::optional<std::vector<std::pair<int, int>>> {
            const Slot slot{parse_user_buffer(buffer), index};
            const FinalContents& contents = c.get();
            if (rank < 0 || rank >= contents.collective().num_ranks()) {
              throw nb::index_error("no such rank");
            }
            if (index < 0 || index >= contents.collective().chunks(rank, slot.buffer)) {
              throw nb::index_error("no such chunk");
            }
            if (contents.value(rank, slot) == 0) return std::nullopt;
            std::vector<std::pair<int, int>> pairs;
            for (const Origin& o : contents.origins(rank, slot))
              pairs.emplace_back(o.rank, o.index);
            return pairs;
          },
          "rank"_a, "buffer"_a, "index"_a,
          "What a slot ends with: the (rank, index) of every contribution, sorted; None: nothing "
          "of worth.",
          nb::sig("def content(self, rank: int, buffer: Buffer | str, index: int) -> "
                  "list[tuple[int, int]] | None"));
}

// The answer of a Python check: True, False, a sentence of what is wrong, or None.
std::optional<std::string> answer(const nb::object& said) {
  if (said.is_none()) return std::nullopt;
  std::string sentence;
  if (nb::isinstance<nb::str>(said)) {
    sentence = nb::cast<std::string>(said);
    if (sentence.empty()) sentence = "its check says no";
    return sentence;
  }
  // A list of faults would be true, and so right.
  const std::string type = nb::cast<std::string>(nb::str(said.type().attr("__name__")));
  if (type != "bool" && type != "bool_") {
    throw nb::type_error(
        ("check returned " + type + ", expected True, False, None or a sentence of what is wrong")
            .c_str());
  }
  const int truth = PyObject_IsTrue(said.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0 ? std::string() : std::string("its check says no");
}

VerifyReport verify_algorithm(const BoundAlgorithm& algorithm,
                              const std::optional<std::string>& target,
                              std::optional<std::int64_t> min_bytes,
                              std::optional<std::int64_t> max_bytes, std::optional<int> slots,
                              std::optional<bool> in_place,
                              const std::optional<Collective>& collective, std::optional<int> root,
                              const std::optional<nb::callable>& check, bool require_same_bits,
                              bool orders, bool waste, int max_findings) {
  VerifyOptions options;
  if (target) options.target = parse_target(*target);
  options.min_bytes = min_bytes;
  options.max_bytes = max_bytes;
  if (slots && *slots < 0) throw nb::value_error("slots: at least 0");
  if (max_findings < 0) throw nb::value_error("max_findings: at least 0");
  options.slots = slots;
  options.in_place = in_place;
  options.collective = collective;
  options.require_same_bits = require_same_bits;
  options.orders = orders;
  options.waste = waste;
  options.max_findings = max_findings;
  const Algorithm& a = *algorithm.algorithm;
  const Collective& meant = collective ? *collective : a.collective;
  const auto with_root = [&](int r) {
    return Collective::make(meant.kind(), meant.num_ranks(), meant.chunk_factor(), meant.in_place(),
                            r, here());
  };
  if (root && !has_root(meant.kind())) {
    throw Error(Code::BadCollective, meant.name() + " has no root", here(), "leave out `root`");
  }
  if (root) options.collective = with_root(*root);
  if (check) {
    options.check = [&](const FinalContents& contents) {
      const nb::gil_scoped_acquire gil;
      const auto bound = std::make_shared<BoundContents>();
      bound->contents = &contents;
      // However it ends: whoever kept it must not look at what is gone.
      struct End {
        BoundContents& bound;
        ~End() { bound.contents = nullptr; }
      };
      const End end{*bound};
      return answer((*check)(nb::cast(bound)));
    };
  }
  const nb::gil_scoped_release nogil;
  if (!collective && !root) {
    const std::optional<int> fits = infer_root(a, options);
    if (fits && *fits != a.collective.root()) {
      const nb::gil_scoped_acquire gil;
      options.collective = with_root(*fits);
    }
  }
  return verify(a, options);
}

}  // namespace

const FinalContents& BoundContents::get() const {
  if (contents == nullptr) {
    throw nb::value_error("the final contents are of use only inside the check they were given to");
  }
  return *contents;
}

void register_verify(nb::module_& m) {
  register_finding(m);
  register_rulings(m);
  register_report(m);
  register_contents(m);

  m.def(
      "verify", &verify_algorithm, "algorithm"_a, nb::kw_only(), "target"_a = nb::none(),
      "min_bytes"_a = nb::none(), "max_bytes"_a = nb::none(), "slots"_a = nb::none(),
      "in_place"_a = nb::none(), "collective"_a = nb::none(), "root"_a = nb::none(),
      "check"_a = nb::none(), "require_same_bits"_a = false, "orders"_a = false, "waste"_a = true,
      "max_findings"_a = 10,
      "Proves an algorithm right in every schedule, or shows why it is not; the algorithm alone "
      "counts, not who made it.\n\n"
      "`target`: the runtime that it must load and run on; else each gets a line that does not "
      "count. `min_bytes`, `max_bytes`: message sizes that must be safe; else the algorithm's "
      "own. `slots` of a connection; else the protocol's. `in_place`: only calls in place, or "
      "only others. `collective`: what it must compute; else what it says itself. `root`: of a "
      "broadcast, reduce, gather or scatter; else found out. `check(contents)`: your own word on "
      "the FinalContents: True, False or a sentence of what is wrong; None says nothing. "
      "`require_same_bits`: refute where ranks add in different orders. `orders`: list the "
      "order in which every element is added up. `waste`: look for what could be left out.\n\n"
      "docs/verification.md says what is proved, and under which assumptions.",
      nb::sig("def verify(algorithm: Algorithm, *, target: "
              "typing.Literal['msccl', 'msccl-executor', 'rccl', 'hocket'] | None = None, "
              "min_bytes: int | None = None, max_bytes: int | None = None, "
              "slots: int | None = None, in_place: bool | None = None, "
              "collective: Collective | None = None, root: int | None = None, "
              "check: collections.abc.Callable[[FinalContents], bool | str | None] | None = None, "
              "require_same_bits: bool = False, orders: bool = False, waste: bool = True, "
              "max_findings: int = 10) -> "
              "VerifyReport"));

  m.def(
      "infer_root",
      [](const BoundAlgorithm& a) {
        const nb::gil_scoped_release nogil;
        return infer_root(*a.algorithm);
      },
      "algorithm"_a,
      "The root with which a broadcast, reduce, gather or scatter is right: runtimes' files do not "
      "say it. None: with none, or it has no root.");

  m.def(
      "from_post_json",
      [](std::string_view text, std::string file) { return from_post_json(text, std::move(file)); },
      "text"_a, "file"_a = "<json>",
      "Reads what an algorithm must compute from a postcondition file: for "
      "verify(collective=...).");
}

}  // namespace hocket::python
