#include "tests/kernels/device/mutant.h"

#include <algorithm>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include "codegen/build.h"
#include "ir/target.h"
#include "kernels/emitters.h"
#include "runtime/health.h"
#include "runtime/hip/device_error.h"
#include "runtime/hip/emulator_extras.h"
#include "tests/kernels/device/launch.h"

namespace monojit::tests {

namespace {

runtime::KernelRecord record_of(const codegen::Build& build) {
  runtime::KernelRecord record;
  record.symbol = build.symbol;
  record.kernarg_bytes = build.resources.kernarg_bytes;
  for (const codegen::ArgumentMetadata& argument : build.arguments) {
    record.arguments.push_back({argument.name, argument.offset, argument.size});
  }
  return record;
}

std::shared_ptr<const runtime::CompiledKernel> compiled(const kernels::BuildKey& key, codegen::Build build) {
  return std::make_shared<const runtime::CompiledKernel>(runtime::CompiledKernel{
      .key = key,
      .arch = device().arch(),
      .record = record_of(build),
      .code_object = std::make_shared<const std::vector<std::byte>>(std::move(build.code_object))});
}

struct Mutant {
  std::size_t changes = 0;  ///< instructions that differ from the emitter's
  std::shared_ptr<const runtime::CompiledKernel> kernel;
};

Mutant build_mutant(const kernels::BuildKey& key, const Mutation* mutation) {
  const ir::Target& target = *ir::find_target(device().arch());
  const std::unique_ptr<ir::Kernel> kernel = kernels::emit(key, target);
  std::unique_ptr<llvm::Module> module = kernel->finish();
  Mutant mutant;
  if (mutation != nullptr) mutant.changes = mutate(*module, *mutation);
  codegen::CodegenOptions options;
  options.policy.persistent = key.family().launch(key).persistent;
  mutant.kernel = compiled(key, codegen::compile(std::move(module), target, options));
  return mutant;
}

/// The emulator's options until the end of a trial.
class Setting {
 public:
  explicit Setting(const Surroundings& surroundings) { set(surroundings); }
  ~Setting() { set({}); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  static void set(const Surroundings& surroundings) {
    const runtime::HipTable& hip = device().hip();
    runtime::set_emulator_option(hip, "seed", std::to_string(surroundings.seed));
    runtime::set_emulator_option(hip, "memory", std::string(surroundings.memory));
    runtime::set_emulator_option(hip, "checks", std::string(surroundings.checks));
  }
};

std::optional<std::string> difference(const std::vector<kernels::Tensor>& want,
                                      const std::vector<kernels::Tensor>& got) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto [expected, found] = std::ranges::mismatch(want[i].bytes, got[i].bytes);
    if (expected == want[i].bytes.end()) continue;
    return fmt::format("{} differs from byte {} on", want[i].name, expected - want[i].bytes.begin());
  }
  return std::nullopt;
}

std::string text(const Surroundings& surroundings) {
  return fmt::format("{} memory, seed {}, checks {}", surroundings.memory, surroundings.seed, surroundings.checks);
}

/// The first run that notices, and what it saw.
std::optional<std::string> first_notice(const MutationPlan& plan,
                                        const std::shared_ptr<const runtime::CompiledKernel>& kernel) {
  for (const Surroundings& run : plan.runs) {
    const Setting setting(run);
    if (const auto what = plan.trial(kernel)) return fmt::format("{}: {}", text(run), *what);
  }
  return std::nullopt;
}

}  // namespace

Trial launch_of(Subject subject) {
  return [subject = std::move(subject)](
             const std::shared_ptr<const runtime::CompiledKernel>& compiled) -> std::optional<std::string> {
    const runtime::LoadedKernel kernel(device(), compiled);
    runtime::DeviceTensors tensors(device(), subject.key.family(), subject.before);
    try {
      launch(kernel, tensors);
    } catch (const runtime::DeviceError& error) {
      return error.detail().empty() ? error.what() : error.detail();
    }
    if (auto health = runtime::poll_health(kernel, tensors.values())) return health;
    return difference(subject.after, tensors.download(subject.before));
  };
}

void check_mutations(const MutationPlan& plan) {
  const auto check = [&](const Mutation* mutation, bool expected) {
    const Mutant mutant = build_mutant(plan.key, mutation);
    const auto what = first_notice(plan, mutant.kernel);
    INFO((mutation == nullptr ? "without a mutation" : mutation->name) << " -> " << what.value_or("not noticed"));
    CHECK(mutant.changes == (mutation == nullptr ? 0 : mutation->changes));
    CHECK(what.has_value() == expected);
  };
  check(nullptr, false);
  for (const Mutation& mutation : plan.mutations) check(&mutation, true);
  for (const Mutation& mutation : plan.harmless) check(&mutation, false);
}

}  // namespace monojit::tests
