#include "tests/kernels/device/mutant.h"

#include <algorithm>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include "cache/digest.h"
#include "codegen/build.h"
#include "ir/target.h"
#include "kernels/emitters.h"
#include "runtime/health.h"
#include "runtime/hip/device_error.h"
#include "runtime/hip/emulator_extras.h"
#include "runtime/image.h"
#include "tests/kernels/device/launch.h"

namespace monojit::tests {

namespace {

std::shared_ptr<const runtime::CompiledKernel> compiled(const kernels::BuildKey& key, codegen::Build build) {
  const std::string arch = device().arch();
  runtime::KernelRecord record = runtime::image_record(build.code_object, arch, build.symbol);
  record.ir_digest = cache::hex({});
  return std::make_shared<const runtime::CompiledKernel>(runtime::CompiledKernel{
      .key = key,
      .arch = arch,
      .record = std::move(record),
      .code_object = std::make_shared<const std::vector<std::byte>>(std::move(build.code_object))});
}

struct Mutant {
  std::size_t changes = 0;  ///< instructions that differ from the emitter's
  std::shared_ptr<const runtime::CompiledKernel> kernel;
};

Mutant build_mutant(const kernels::BuildKey& key, const Mutation* mutation, const Mutation* late) {
  const ir::Target& target = *ir::find_target(device().arch());
  const std::unique_ptr<ir::Kernel> kernel = kernels::emit(key, target);
  std::unique_ptr<llvm::Module> module = kernel->finish();
  if (late != nullptr) REQUIRE(mutate(*module, *late) == late->changes);
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
    runtime::set_emulator_option(hip, "skew", std::to_string(surroundings.skew));
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
  std::string text =
      fmt::format("{} memory, seed {}, checks {}", surroundings.memory, surroundings.seed, surroundings.checks);
  if (surroundings.skew != 0) text += fmt::format(", skew {}", surroundings.skew);
  if (surroundings.alone) text += fmt::format(", rank {} alone", *surroundings.alone);
  if (surroundings.late != nullptr) text += ", " + surroundings.late->name;
  return text;
}

struct Notice {
  std::size_t changes = 0;          ///< as of Mutant
  std::optional<std::string> what;  ///< the first run that notices, and what it saw
};

Notice first_notice(const MutationPlan& plan, const Mutation* mutation) {
  Mutant mutant;
  const Mutation* late = nullptr;
  for (const Surroundings& run : plan.runs) {
    if (mutant.kernel == nullptr || run.late != late) mutant = build_mutant(plan.key, mutation, run.late);
    late = run.late;
    const Setting setting(run);
    if (const auto what = plan.trial(mutant.kernel, run)) {
      return {mutant.changes, fmt::format("{}: {}", text(run), *what)};
    }
  }
  return {mutant.changes, std::nullopt};
}

}  // namespace

Trial launch_of(Subject subject) {
  return [subject = std::move(subject)](const std::shared_ptr<const runtime::CompiledKernel>& compiled,
                                        const Surroundings&) -> std::optional<std::string> {
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
    const auto [changes, what] = first_notice(plan, mutation);
    INFO((mutation == nullptr ? "without a mutation" : mutation->name) << " -> " << what.value_or("not noticed"));
    CHECK(changes == (mutation == nullptr ? 0 : mutation->changes));
    CHECK(what.has_value() == expected);
  };
  for (const Mutation& mutation : plan.mutations) check(&mutation, true);
  for (const Mutation& mutation : plan.harmless) check(&mutation, false);
  check(nullptr, false);  // last: devices report a launch that failed until one succeeds
}

}  // namespace monojit::tests
