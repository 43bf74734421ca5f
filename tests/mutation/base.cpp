#include "mutation/base.h"

#include "hocket/algorithms.h"
#include "hocket/compile.h"
#include "mutation/mutate.h"
#include "random/program_generator.h"
#include "random/property.h"

namespace hocket::mutation {
namespace {

constexpr std::size_t kMaxSteps = 60;

std::optional<Program> random_program(std::uint64_t seed) {
  random_test::GeneratorLimits limits;
  limits.max_ranks = 4;
  limits.max_calls = 14;
  limits.max_chunks = 3;
  limits.max_instances = 2;
  random_test::ProgramSpec spec = random_test::generate(seed, limits);
  // A random program computes no built-in collective; what it does compute is a custom one.
  random_test::to_custom(spec);
  if (spec.collective.kind != CollectiveKind::custom) return std::nullopt;
  return random_test::program_of(spec);
}

std::optional<Program> library_program(Dice& dice) {
  // Sums are what mutants of the library are for: the random programs have fewer of them.
  const bool sums = dice.chance(40);
  std::vector<AlgorithmInfo> fit;
  for (const AlgorithmInfo& info : algorithm_library()) {
    if (!sums || info.collective == "allreduce") fit.push_back(info);
    // Every rank starts from its own value: the one whose bits differ by design.
    if (sums && info.name == "allreduce_one_shot") fit.insert(fit.end(), 3, info);
  }
  const AlgorithmInfo info = dice.pick(fit);
  Parameters parameters;
  for (const ParameterInfo& p : info.parameters) {
    if (p.name == "ranks") parameters[p.name] = std::to_string(dice.between(2, 4));
    if (p.name == "nodes") parameters.emplace(p.name, "2");
    if (p.name == "gpus") parameters[p.name] = std::to_string(dice.between(1, 2));
    if (p.name == "instances") parameters[p.name] = std::to_string(dice.chance(20) ? 2 : 1);
    if (p.name == "in_place" && dice.chance(50)) parameters.emplace(p.name, "true");
    if (p.name == "fuse" && dice.chance(30)) parameters.emplace(p.name, "false");
    if (p.name == "protocol") {
      parameters.emplace(p.name, dice.pick<std::string>({"Simple", "LL", "LL128"}));
    }
  }
  try {
    return make_algorithm(info.name, parameters);
  } catch (const Error&) {
    return std::nullopt;  // no such number of ranks
  }
}

}  // namespace

std::optional<Base> base_of(std::uint64_t seed) {
  Dice dice(seed);
  const std::optional<Program> program =
      dice.chance(30) ? library_program(dice) : random_program(seed);
  if (!program) return std::nullopt;
  Base base;
  base.target = dice.pick(all_targets());
  CompileOptions options;
  options.target = base.target;
  options.check_limits = false;
  if (dice.chance(30)) options.max_bytes = std::int64_t{1} << dice.between(0, 24);
  base.algorithm = compile(*program, options);
  if (base.algorithm.steps.empty() || base.algorithm.steps.size() > kMaxSteps) return std::nullopt;
  return base;
}

}  // namespace hocket::mutation
