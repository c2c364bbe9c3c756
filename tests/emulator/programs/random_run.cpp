#include "tests/emulator/programs/random_run.h"

#include <fmt/format.h>

#include "tests/emulator/programs/compile.h"
#include "tests/emulator/programs/random_program.h"

namespace monojit::emulator::test {
namespace {

std::string name_of(u64 seed) { return fmt::format("random_{}", seed); }

/// The first word that is not as evaluated, or nothing.
std::string difference(const RandomProgram& program, std::span<const u64> got, const std::vector<u64>& want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;
    const std::size_t word = i % program.outputs();
    return fmt::format("item {}, {} {}: {:#x}, where {:#x} was evaluated", i / program.outputs(),
                       word < program.inputs() ? "variable" : "element",
                       word < program.inputs() ? word : word - program.inputs(), got[i], want[i]);
  }
  return {};
}

}  // namespace

std::string run_random_programs(std::span<const u64> seeds, const Variant& variant) {
  std::string source = random_program_prelude();
  for (const u64 seed : seeds) source += RandomProgram(seed).text(name_of(seed));
  const auto object = compile_opencl(
      source, "random.cl", variant.chip.arch,
      {fmt::format("-{}", variant.optimisation), "-ffp-contract=off", "-cl-fp32-correctly-rounded-divide-sqrt"});
  Program device(object, variant);
  std::string report;
  for (const u64 seed : seeds) {
    const RandomProgram program(seed);
    const std::vector<u64> inputs = program.random_inputs(seed), want = program.evaluate(inputs);
    const auto in = device.upload(inputs), out = device.allocate<u64>(want.size());
    std::string problem;
    try {
      device.call(name_of(seed), {}, {in, out});
      problem = difference(program, out.all(), want);
    } catch (const Failure& failure) {
      problem = failure.what();
    }
    if (!problem.empty())
      report += fmt::format("seed {}, {}: {}\n{}\n", seed, variant.name(), problem, program.text(name_of(seed)));
  }
  return report;
}

}  // namespace monojit::emulator::test
