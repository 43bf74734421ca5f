// The final contents of an algorithm as a Python object, which may outlive them.
#pragma once

#include <nanobind/stl/shared_ptr.h>

#include "bindings.h"
#include "hocket/verify.h"

namespace hocket::python {

struct BoundContents {
  const FinalContents* contents = nullptr;  // null once the check is over
  const FinalContents& get() const;         // or a Python ValueError
};

}  // namespace hocket::python
