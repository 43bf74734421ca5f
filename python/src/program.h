// How a Program and its Refs are held by Python objects.
#pragma once

#include "bindings.h"
#include "hocket/program.h"

namespace hocket::python {

// A program and how many of its warnings Python has been told.
struct BoundProgram {
  explicit BoundProgram(Program p) : program(std::move(p)) {}

  // Raises what the last call added to the program's warnings.
  void emit_new_warnings() {
    if (program.warnings().size() == told) return;
    emit_all_new_warnings();
  }

  Program program;
  std::size_t told = 0;

 private:
  void emit_all_new_warnings();
};

// A reference keeps its program's Python object alive.
struct BoundRef {
  nb::object owner;
  BoundProgram* program = nullptr;
  Ref ref;
};

}  // namespace hocket::python
