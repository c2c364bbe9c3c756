#include <algorithm>
#include <cstdint>
#include <ctime>
#include <stdexcept>

#include "kernels/bench/peak/key.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/emulator_extras.h"
#include "runtime/hip/stream.h"
#include "tools/bench/benchmarks.h"
#include "tools/kernel_run.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using runtime::EmulatorCounts;

constexpr int kRuns = 5;
constexpr double kMsPerSecond = 1e3;

/// One launch of bench.peak: so many rounds that starting it does not count.
struct Peak {
  const char* name;
  const char* key;
  std::int32_t rounds;
  std::uint64_t EmulatorCounts::* counted;  ///< or null: what each round does is known
  double work_of_round = 0;                 ///< of the whole grid
  const char* figure = kRate;
};

constexpr double kPeakWaves = kernels::bench::kPeakWorkgroups * kernels::bench::kPeakThreads / 64;
constexpr double kCopyRoundBytes =
    kernels::bench::kPeakWorkgroups * kernels::bench::kPeakThreads * kernels::bench::kPeakCopyBytes;
constexpr std::int32_t kCopyRounds = (128 << 20) / static_cast<std::int32_t>(kCopyRoundBytes);

constexpr Peak kPeaks[] = {
    {"emulator.valu", "bench.peak{unit=valu}", 2000, &EmulatorCounts::wave_instructions},
    {"emulator.lds", "bench.peak{unit=lds}", 2000, nullptr, kPeakWaves * kernels::bench::kPeakLdsInstructions},
    {"emulator.mfma_bf16", "bench.peak{unit=mfma_bf16}", 60, &EmulatorCounts::mfma},
    {"emulator.mfma_bf16_s8", "bench.peak{unit=mfma_bf16_s8}", 60, &EmulatorCounts::mfma},
    {"emulator.mfma_fp4", "bench.peak{unit=mfma_fp4}", 200, &EmulatorCounts::mfma},
    {"emulator.copy", "bench.peak{unit=copy}", kCopyRounds, nullptr, 2 * kCopyRoundBytes, kTraffic},
};

/// Time that this process has had a processor: other programs, which may keep it waiting, don't count.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::size_t peak_bytes(const Peak& peak, const kernels::Launch& shape) {
  const std::size_t results = std::size_t{shape.workgroups} * shape.workgroup_size * sizeof(float);
  const bool copies = peak.figure == kTraffic;  // every byte that it moves is one of the buffer's
  return copies ? static_cast<std::size_t>(peak.work_of_round) * static_cast<std::size_t>(peak.rounds) : results;
}

void run_peak(benchmark::State& state, const Peak& peak) {
  const runtime::Device device = open_device("emulator", kBenchArch);
  runtime::Jit jit({});
  const auto kernel = jit.prepare(kernels::BuildKey::parse(peak.key), device);
  const runtime::DeviceBuffer out(device, peak_bytes(peak, kernel->shape()));
  const runtime::Stream stream(device);
  const auto counts = [&] {
    const auto now = runtime::emulator_counts(device.hip());
    if (!now) throw std::runtime_error(device.text() + " counts no instructions");
    return *now;
  };
  const auto launch = [&] {
    const EmulatorCounts before = counts();
    const runtime::ArgumentValue values[] = {out.address(), peak.rounds};
    kernel->launch(values, stream.get());
    stream.synchronize();
    if (peak.counted == nullptr) return peak.work_of_round * peak.rounds;
    return static_cast<double>(counts().*peak.counted - before.*peak.counted);
  };
  (void)launch();  // decodes the kernel, touches the memory
  double best = 0;
  while (state.KeepRunning()) {
    const double seconds_before = processor_seconds();
    const double counted = launch();
    const double seconds = processor_seconds() - seconds_before;
    state.SetIterationTime(seconds);
    best = std::max(best, counted / seconds);
  }
  state.counters[peak.figure] = best;
}

void run_k1(benchmark::State& state) {
  runtime::Jit jit({});
  RunOptions options;
  options.device = "emulator";
  options.arch = kBenchArch;
  (void)run_kernel(jit, k1_key(1), options);  // builds it
  while (state.KeepRunning()) {
    const RunResult result = run_kernel(jit, k1_key(1), options);
    if (!result.verified) return state.SkipWithError("outputs differ from the reference");
    state.SetIterationTime(result.run_ms / kMsPerSecond);
  }
}

}  // namespace

kernels::BuildKey k1_key(int tokens) {
  return kernels::BuildKey::from_values(kernels::family("minimax_m3.k1"), {{"tokens", tokens}, {"index_heads", 1}});
}

kernels::BuildKey k2_build_key(int tokens) {
  return kernels::BuildKey::from_values(kernels::family("kimi_k3.k2"), {{"tokens", tokens}, {"nblocks", 4}});
}

void register_emulator_benchmarks() {
  for (const Peak& peak : kPeaks) {
    benchmark::RegisterBenchmark(peak.name, run_peak, peak)->UseManualTime()->Iterations(kRuns);
  }
  benchmark::RegisterBenchmark("emulator.minimax_m3.k1.tokens1", run_k1)
      ->UseManualTime()
      ->Iterations(kRuns)
      ->Unit(benchmark::kSecond);
}

}  // namespace monojit::tools
