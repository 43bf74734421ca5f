// The library of standard algorithms.
#include <nanobind/stl/map.h>

#include "bindings.h"
#include "hocket/algorithms.h"
#include "program.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

// Parameters as the library takes them: words and numbers.
std::string parameter_text(const nb::handle& value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value) ? "true" : "false";
  return nb::cast<std::string>(nb::str(value));
}

}  // namespace

void register_library(nb::module_& m) {
  nb::class_<ParameterInfo>(m, "ParameterInfo", "A parameter of a library algorithm.")
      .def_ro("name", &ParameterInfo::name)
      .def_ro("about", &ParameterInfo::about)
      .def_ro("default_value", &ParameterInfo::default_value)
      .def("__repr__", [](const ParameterInfo& p) {
        return "<ParameterInfo " + p.name + "=" + p.default_value + ": " + p.about + ">";
      });

  nb::class_<AlgorithmInfo>(m, "AlgorithmInfo", "An algorithm of the library.")
      .def_ro("name", &AlgorithmInfo::name)
      .def_ro("collective", &AlgorithmInfo::collective)
      .def_ro("about", &AlgorithmInfo::about)
      .def_ro("ranks_rule", &AlgorithmInfo::ranks_rule)
      .def_ro("parameters", &AlgorithmInfo::parameters)
      .def("__repr__", [](const AlgorithmInfo& a) {
        return "<AlgorithmInfo " + a.name + ": " + a.about + ">";
      });

  m.def("algorithm_library", &algorithm_library, "Every standard algorithm, sorted by name.");

  m.def(
      "make_algorithm",
      [](std::string_view name, const nb::kwargs& parameters) {
        Parameters given;
        for (const auto& [key, value] : parameters) {
          given.emplace(nb::cast<std::string>(key), parameter_text(value));
        }
        return BoundProgram(make_algorithm(name, given, here()));
      },
      "name"_a, "parameters"_a,
      "The program of a library algorithm: ``make_algorithm('allreduce_ring', ranks=8)``.",
      nb::sig("def make_algorithm(name: str, **parameters: int | str | bool) -> Program"));
}

}  // namespace hocket::python
