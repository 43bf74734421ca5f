// What the files of the module `hocket._core` share: one register_<thing>() a file, the caller's
// place, and the passage of errors and warnings into Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <vector>

#include "hocket/diagnostic.h"
#include "hocket/location.h"

namespace hocket::python {

namespace nb = nanobind;

void register_diagnostics(nb::module_& m);
void register_topology(nb::module_& m);
void register_collective(nb::module_& m);
void register_program(nb::module_& m);
void register_algorithm(nb::module_& m);
void register_compile(nb::module_& m);
void register_verify(nb::module_& m);
void register_runtime(nb::module_& m);
void register_library(nb::module_& m);
void register_dropin(nb::module_& m);

// The line of the innermost Python frame whose code does not belong to our own packages. The file
// name lives as long as the process. About 50 ns where the same line is asked for again.
CallSite here();

// Code in files whose name starts with `directory` is ours: here() looks past it.
void add_package_directory(std::string_view directory);

// Raises each as a Python warning at the line it names (a HocketWarning, or for HK0123 its
// deprecation twin). Throws nb::python_error where the user's filters turn a warning into an
// exception.
void emit_warning(const Diagnostic& diagnostic);

// One of a fixed set of words, or a Python ValueError that lists them.
[[noreturn]] void bad_word(std::string_view what, std::string_view found,
                           const std::vector<std::string>& allowed);

}  // namespace hocket::python
