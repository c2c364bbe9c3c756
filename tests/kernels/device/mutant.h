#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/workload.h"
#include "runtime/loaded_kernel.h"
#include "tests/kernels/device/mutation.h"

namespace monojit::tests {

/// Under which circumstances the emulator runs a kernel.
struct Surroundings {
  std::string_view memory = "coherent";  ///< or "weak"
  int seed = 0;
  int skew = 0;                      ///< which devices are held back when; 0: none
  std::string_view checks = "none";  ///< or "all", or names of checks
  std::optional<int> alone = {};     ///< the only rank of a group that runs; it finds what the others would have pushed
  const Mutation* late = nullptr;    ///< made in the kernel besides, mutated or not: what it is about comes late
};

/// Runs a kernel and tells what went wrong, if anything did.
using Trial = std::function<std::optional<std::string>(const std::shared_ptr<const runtime::CompiledKernel>& kernel,
                                                       const Surroundings& run)>;

/// Data for a launch on device(), and what it leaves behind when all is well.
struct Subject {
  kernels::BuildKey key;
  std::vector<kernels::Tensor> before;
  std::vector<kernels::Tensor> after;
};

/// One launch on the subject's data. What tells that it went wrong: a fault of the emulator or one of its checks, a
/// health record, or a tensor that differs from `after`.
Trial launch_of(Subject subject);

/// Mistakes in one build, and the runs of which one has to notice each.
struct MutationPlan {
  kernels::BuildKey key;
  Trial trial;  ///< made in each of the surroundings
  std::span<const Surroundings> runs;
  std::span<const Mutation> mutations;
  /// Mutations that no run can notice, by the nature of the kernel: their list says why.
  std::span<const Mutation> harmless = {};
};

/// Checks, as Catch2 assertions: every run is right without a mutation; every mutation changes as many instructions as
/// it says and is noticed by a run; the harmless ones are noticed by none. Mutants are compiled for device() as kernels
/// are, within their policy. Needs the emulator.
void check_mutations(const MutationPlan& plan);

}  // namespace monojit::tests
