#include "runtime/jit.h"
#include "tools/bench/benchmarks.h"
#include "tools/bench/temporary_folder.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

runtime::JitOptions options_of(const TemporaryFolder& folder) {
  runtime::JitOptions options;
  options.cache_folder = folder.path();
  options.warn = say;
  return options;
}

void disk_hit(benchmark::State& state) {
  const TemporaryFolder folder;
  const kernels::BuildKey key = k1_key(1);
  runtime::Jit(options_of(folder)).get(key, kBenchArch);
  while (state.KeepRunning()) {
    runtime::Jit jit(options_of(folder));  // its memory is empty
    if (jit.get(key, kBenchArch).source != cache::Source::kDisk)
      return state.SkipWithError("the kernel was not found on disk");
  }
}

void memory_hit(benchmark::State& state) {
  runtime::Jit jit({});
  const kernels::BuildKey key = k1_key(1);
  jit.get(key, kBenchArch);
  while (state.KeepRunning()) benchmark::DoNotOptimize(jit.get(key, kBenchArch));
}

}  // namespace

void register_cache_benchmarks() {
  benchmark::RegisterBenchmark("cache.disk_hit", disk_hit)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("cache.memory_hit", memory_hit)->Unit(benchmark::kNanosecond);
  register_trim_benchmark();
}

}  // namespace monojit::tools
