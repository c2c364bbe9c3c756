#include <algorithm>
#include <limits>

#include "runtime/hip/emulator_extras.h"
#include "tools/bench/benchmarks.h"
#include "tools/kernel_run.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

constexpr int kRuns = 7;  // the best counts: other programs only make a run slower

/// Seconds of K1's launch in a memory mode of the emulator. Throws UserError if it computes something wrong there.
double best_seconds(runtime::Jit& jit, const runtime::HipTable& emulator, const char* mode) {
  runtime::set_emulator_option(emulator, "memory", mode);
  RunOptions options;
  options.device = "emulator";
  options.arch = kBenchArch;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    const RunResult result = run_kernel(jit, k1_key(1), options);
    if (!result.verified) throw UserError(std::string("outputs differ from the reference in memory mode ") + mode);
    if (i > 0) best = std::min(best, result.emulator->seconds);  // the first one decodes the kernel
  }
  return best;
}

void run_weak_ratio(benchmark::State& state) {
  const runtime::Device device = open_device("emulator", kBenchArch);
  runtime::Jit jit({});
  double ratio = 0;
  while (state.KeepRunning()) {
    const double coherent = best_seconds(jit, device.hip(), "coherent");
    const double weak = best_seconds(jit, device.hip(), "weak");
    runtime::set_emulator_option(device.hip(), "memory", "coherent");
    state.SetIterationTime(weak);
    ratio = weak / coherent;
  }
  state.counters[kRatio] = ratio;
}

}  // namespace

void register_weak_memory_benchmark() {
  benchmark::RegisterBenchmark("emulator.weak_ratio", run_weak_ratio)->UseManualTime()->Iterations(1);
}

}  // namespace monojit::tools
