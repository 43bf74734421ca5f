// The tests' independent judge for Python tests: algorithms go in as text, findings come out. A
// module of its own, so that the package ships none of it.
#include "support/judge.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "hocket/format.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

namespace {

using Place = std::tuple<int, std::string, int>;  // rank, buffer, index
using Origins = std::vector<std::pair<int, int>>;

struct Answer {
  std::vector<std::string> findings;
  bool compared = false;
  std::vector<std::pair<Place, std::vector<std::tuple<int, int>>>> memory;
};

Answer judge(const std::string& text, const std::optional<std::string>& like,
             std::optional<int> slots, std::optional<int> cut) {
  hocket::Algorithm algorithm = hocket::from_any(text);
  // What a file in a runtime's own dialect cannot say of a custom collective, another file can.
  if (like) algorithm.collective = hocket::from_any(*like).collective;
  hocket::oracle::JudgeOptions options;
  options.slots = slots;
  options.cut = cut;
  const hocket::oracle::Verdict verdict = hocket::oracle::judge(algorithm, options);
  Answer answer;
  answer.compared = verdict.compared;
  for (const auto& finding : verdict.findings) answer.findings.push_back(str(finding));
  int rank = 0;
  for (const hocket::oracle::Memory& memory : verdict.memory) {
    for (const auto& [slot, content] : memory) {
      std::vector<std::tuple<int, int>> origins;
      for (const hocket::Origin& o : content) origins.emplace_back(o.rank, o.index);
      answer.memory.push_back(
          {{rank, std::string(hocket::buffer_kind_name(slot.buffer)), slot.index}, origins});
    }
    ++rank;
  }
  return answer;
}

}  // namespace

NB_MODULE(hocket_judge, m) {
  nb::set_leak_warnings(false);
  nb::class_<Answer>(m, "Answer")
      .def_ro("findings", &Answer::findings)
      .def_ro("compared", &Answer::compared)
      .def_prop_ro("memory", [](const Answer& a) {
        nb::dict memory;
        for (const auto& [place, origins] : a.memory) memory[nb::cast(place)] = nb::cast(origins);
        return memory;
      });
  m.def("judge", &judge, "text"_a, "like"_a = nb::none(), "slots"_a = nb::none(),
        "cut"_a = nb::none());
}
