#include <cstdint>
#include <stdexcept>

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
  std::uint64_t EmulatorCounts::* counted;
};

constexpr Peak kPeaks[] = {
    {"emulator.valu", "bench.peak{unit=valu}", 2000, &EmulatorCounts::wave_instructions},
    {"emulator.mfma_bf16", "bench.peak{unit=mfma_bf16}", 60, &EmulatorCounts::mfma},
};

void run_peak(benchmark::State& state, const Peak& peak) {
  const runtime::Device device = open_device("emulator", kBenchArch);
  runtime::Jit jit({});
  const auto kernel = jit.prepare(kernels::BuildKey::parse(peak.key), device);
  const std::size_t threads = std::size_t{kernel->shape().workgroups} * kernel->shape().workgroup_size;
  const runtime::DeviceBuffer out(device, threads * sizeof(float));
  const runtime::Stream stream(device);
  const auto launch = [&] {
    const runtime::ArgumentValue values[] = {out.address(), peak.rounds};
    kernel->launch(values, stream.get());
    stream.synchronize();
    const auto counts = runtime::emulator_counts(device.hip());
    if (!counts) throw std::runtime_error(device.text() + " counts no instructions");
    return *counts;
  };
  EmulatorCounts before = launch();  // decodes the kernel
  double counted = 0;
  double seconds = 0;
  while (state.KeepRunning()) {
    const EmulatorCounts after = launch();
    counted += static_cast<double>(after.*peak.counted - before.*peak.counted);
    seconds += after.seconds - before.seconds;
    state.SetIterationTime(after.seconds - before.seconds);
    before = after;
  }
  state.counters[kRate] = counted / seconds;
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
