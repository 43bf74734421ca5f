// The extension module hocket._core: what the C++ library does, under the same names.
#include "bindings.h"
#include "hocket/version.h"

NB_MODULE(_core, m) {
  // References live in module globals until the interpreter ends: nothing is lost.
  nanobind::set_leak_warnings(false);
  m.doc() = "The C++ core of hocket. Import `hocket` instead.";
  m.attr("__version__") = hocket::kVersion;
  hocket::python::register_diagnostics(m);
  hocket::python::register_topology(m);
  hocket::python::register_collective(m);
  hocket::python::register_algorithm(m);
  hocket::python::register_program(m);
  hocket::python::register_compile(m);
  hocket::python::register_verify(m);
  hocket::python::register_runtime(m);
  hocket::python::register_library(m);
  hocket::python::register_dropin(m);
}
