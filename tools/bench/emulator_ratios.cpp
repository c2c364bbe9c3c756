// K1's time under one setting of the emulator against its time under another.
#include <algorithm>
#include <limits>
#include <thread>

#include "runtime/hip/emulator_extras.h"
#include "tools/bench/benchmarks.h"
#include "tools/kernel_run.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

constexpr int kRuns = 7;  // the best counts: other programs only make a run slower

/// Seconds of one launch of K1. Throws UserError if it computes something wrong.
double seconds_of_k1(runtime::Jit& jit) {
  RunOptions options;
  options.device = "emulator";
  options.arch = kBenchArch;
  const RunResult result = run_kernel(jit, k1_key(1), options);
  if (!result.verified) throw UserError("outputs differ from the reference");
  return result.emulator->seconds;
}

struct Seconds {
  double plain = std::numeric_limits<double>::infinity();
  double other = std::numeric_limits<double>::infinity();
};

/// The best times with an option at its plain value and at another; in turn, so that a busy time of the machine meets
/// both. Leaves it at the plain value.
Seconds compare(const char* option, const char* plain, const char* other) {
  const runtime::Device device = open_device("emulator", kBenchArch);
  runtime::Jit jit({});
  const auto set = [&](const char* value) { runtime::set_emulator_option(device.hip(), option, value); };
  Seconds best;
  for (int i = 0; i <= kRuns; ++i) {
    set(other);
    const double with_other = seconds_of_k1(jit);
    set(plain);
    const double with_plain = seconds_of_k1(jit);
    if (i == 0) continue;  // decodes the kernel
    best.plain = std::min(best.plain, with_plain);
    best.other = std::min(best.other, with_other);
  }
  return best;
}

void run_weak_ratio(benchmark::State& state) {
  Seconds seconds;
  while (state.KeepRunning()) {
    seconds = compare("memory", "coherent", "weak");
    state.SetIterationTime(seconds.other);
  }
  state.counters[kRatio] = seconds.other / seconds.plain;
}

void run_two_threads(benchmark::State& state) {
  if (std::thread::hardware_concurrency() < 2) return state.SkipWithError("this machine has one core");
  Seconds seconds;
  while (state.KeepRunning()) {
    seconds = compare("threads", "1", "2");
    state.SetIterationTime(seconds.other);
  }
  state.counters[kRatio] = seconds.plain / seconds.other;
}

}  // namespace

void register_emulator_ratio_benchmarks() {
  benchmark::RegisterBenchmark("emulator.weak_ratio", run_weak_ratio)->UseManualTime()->Iterations(1);
  benchmark::RegisterBenchmark("emulator.two_threads", run_two_threads)->UseManualTime()->Iterations(1);
}

}  // namespace monojit::tools
