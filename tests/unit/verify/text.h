// Algorithms in the text form, loaded.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "hocket/format.h"
#include "verify/execution_order.h"
#include "verify/loaded.h"

namespace hocket::verifying {

struct Text {
  Algorithm algorithm;
  Loaded loaded;
  PropertyRuling structure;
  ExecutionOrder order;
};

// The address of an algorithm is kept by what is loaded.
inline std::unique_ptr<Text> load_text(const std::string& text) {
  auto t = std::make_unique<Text>();
  t->algorithm = from_text(text);
  const bool loaded = load(t->algorithm, t->algorithm.collective, t->algorithm.in_place,
                           std::int64_t{1} << 24, t->loaded, t->structure);
  EXPECT_TRUE(loaded);
  EXPECT_TRUE(t->structure.findings.empty());
  t->order = find_order(t->loaded);
  return t;
}

inline std::vector<StepPlace> places(std::initializer_list<StepPlace> list) { return list; }

}  // namespace hocket::verifying
