// What the compiler makes of the library's algorithms is proved, for every target.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hocket/hocket.h>

#include <algorithm>
#include <iostream>

#include "hocket/verify.h"

namespace hocket::mutation {
namespace {

VerifyReport verified(const Program& program, Target target,
                      std::optional<std::int64_t> max_bytes) {
  CompileOptions options;
  options.target = target;
  options.check_limits = false;
  options.max_bytes = max_bytes;
  VerifyOptions asked;
  // A target's limits are not what is asked here: large shapes break them.
  asked.max_findings = 3;
  return verify(compile(program, options), asked);
}

bool takes(const AlgorithmInfo& info, const std::string& name) {
  return std::any_of(info.parameters.begin(), info.parameters.end(),
                     [&](const ParameterInfo& p) { return p.name == name; });
}

std::vector<Parameters> shapes_of(const AlgorithmInfo& info) {
  std::vector<Parameters> shapes;
  if (takes(info, "nodes")) {
    for (const auto& [nodes, gpus] : {std::pair{1, 1}, {1, 4}, {2, 2}, {2, 4}, {3, 2}, {4, 3}}) {
      shapes.push_back({{"nodes", std::to_string(nodes)}, {"gpus", std::to_string(gpus)}});
    }
  } else {
    for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 12, 16}) {
      shapes.push_back({{"ranks", std::to_string(ranks)}});
    }
  }
  return shapes;
}

std::string str(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += fmt::format(" {}={}", name, value);
  return text;
}

class Library : public testing::TestWithParam<std::string> {};

TEST_P(Library, IsProved) {
  const auto& all = algorithm_library();
  const auto info = std::find_if(all.begin(), all.end(),
                                 [](const AlgorithmInfo& i) { return i.name == GetParam(); });
  ASSERT_NE(info, all.end());
  int proved = 0;
  for (const Parameters& shape : shapes_of(*info)) {
    for (int variant = 0; variant < 6; ++variant) {
      Parameters parameters = shape;
      if (takes(*info, "instances")) parameters["instances"] = std::to_string(1 + variant % 3);
      if (takes(*info, "in_place"))
        parameters["in_place"] = variant / 2 % 2 == 1 ? "true" : "false";
      if (takes(*info, "fuse")) parameters["fuse"] = variant == 4 ? "false" : "true";
      if (takes(*info, "protocol")) {
        const char* const protocols[] = {"Simple", "LL", "LL128"};
        parameters["protocol"] = std::string(protocols[variant % 3]);
      }
      std::optional<Program> program;
      try {
        program.emplace(make_algorithm(info->name, parameters));
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::BadParameter) << e.what();
        continue;
      }
      for (const Target target : all_targets()) {
        std::optional<std::int64_t> max_bytes;
        if (variant == 5) max_bytes = 1 << 20;
        const VerifyReport report = verified(*program, target, max_bytes);
        ASSERT_EQ(report.ruling(), Ruling::proved)
            << str(parameters) << " for " << target_name(target) << "\n"
            << report.str();
        ++proved;
      }
    }
  }
  std::cout << proved << " proved\n";
  EXPECT_GE(proved, 40);
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const AlgorithmInfo& info : algorithm_library()) list.push_back(info.name);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Library, testing::ValuesIn(names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace hocket::mutation
