// Every algorithm of the library, judged: the runs elsewhere show one schedule, this decides for
// all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "hocket/algorithms.h"
#include "hocket/compile.h"
#include "support/judge.h"

namespace hocket::random_test {
namespace {

bool takes(const AlgorithmInfo& info, const std::string& name) {
  for (const ParameterInfo& p : info.parameters) {
    if (p.name == name) return true;
  }
  return false;
}

// Shapes to try: rank counts, or nodes of GPUs.
std::vector<Parameters> shapes_of(const AlgorithmInfo& info) {
  std::vector<Parameters> shapes;
  if (takes(info, "nodes")) {
    for (const auto& [nodes, gpus] :
         {std::pair{1, 1}, {1, 4}, {2, 1}, {2, 2}, {2, 4}, {3, 2}, {4, 3}}) {
      shapes.push_back({{"nodes", std::to_string(nodes)}, {"gpus", std::to_string(gpus)}});
    }
  } else {
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12}) {
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

TEST_P(Library, IsRightInEverySchedule) {
  const auto& all = algorithm_library();
  const auto info = std::find_if(all.begin(), all.end(),
                                 [](const AlgorithmInfo& i) { return i.name == GetParam(); });
  ASSERT_NE(info, all.end());
  int judged = 0;
  for (const Parameters& shape : shapes_of(*info)) {
    for (int variant = 0; variant < 8; ++variant) {
      Parameters parameters = shape;
      if (takes(*info, "instances")) parameters["instances"] = variant % 2 == 0 ? "1" : "3";
      if (takes(*info, "in_place") && variant / 2 % 2 == 1) parameters["in_place"] = "true";
      if (takes(*info, "fuse") && variant / 4 == 1) parameters["fuse"] = "false";
      if (takes(*info, "channels") && variant == 6) parameters["channels"] = "2";
      if (takes(*info, "chunk_factor") && variant == 5) parameters["chunk_factor"] = "2";
      if (takes(*info, "protocol")) {
        const char* protocols[] = {"Simple", "LL", "LL128"};
        parameters["protocol"] = protocols[variant % 3];
      }
      std::optional<Program> program;
      try {
        program.emplace(make_algorithm(info->name, parameters));
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::BadParameter) << e.what();
        continue;
      }
      EXPECT_TRUE(program->check().ok()) << str(parameters) << "\n" << program->check().str();
      for (const Target target : {Target::msccl, Target::rccl}) {
        SCOPED_TRACE(str(parameters) + " for " + std::string(target_name(target)));
        CompileOptions options;
        options.target = target;
        options.check_limits = false;
        if (variant == 7) options.max_bytes = 1 << 20;
        const Algorithm algorithm = compile(*program, options);
        const oracle::Verdict verdict = oracle::judge(algorithm, {.target = target});
        ASSERT_TRUE(verdict.clean()) << oracle::str(verdict.findings);
        ASSERT_TRUE(verdict.compared);
        ++judged;
      }
    }
  }
  std::cout << judged << " algorithms judged\n";
  EXPECT_GE(judged, 20);
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const AlgorithmInfo& info : algorithm_library()) list.push_back(info.name);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Library, testing::ValuesIn(names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace hocket::random_test
