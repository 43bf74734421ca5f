// How an Algorithm is held by Python objects: shared and never changed, so that views of its parts
// stay valid and cost two words.
#pragma once

#include <memory>

#include "bindings.h"
#include "hocket/algorithm.h"

namespace hocket::python {

using AlgorithmPtr = std::shared_ptr<const Algorithm>;

struct BoundAlgorithm {
  explicit BoundAlgorithm(Algorithm a) : algorithm(std::make_shared<Algorithm>(std::move(a))) {}
  AlgorithmPtr algorithm;
};

}  // namespace hocket::python
