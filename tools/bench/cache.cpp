#include <cstdint>
#include <filesystem>

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

/// Bytes of K1's file in the cache, or of the code object in it.
void entry_bytes(benchmark::State& state, bool whole) {
  const TemporaryFolder folder;
  while (state.KeepRunning()) {
    runtime::Jit jit(options_of(folder));
    const auto kernel = jit.get(k1_key(1), kBenchArch).kernel;
    const auto file = jit.disk()->file_of(jit.cache_key(kernel->key, kBenchArch).digest());
    const std::uint64_t bytes = whole ? std::filesystem::file_size(file) : kernel->code_object->size();
    state.counters[kBytes] = static_cast<double>(bytes);
  }
}

}  // namespace

void register_cache_benchmarks() {
  benchmark::RegisterBenchmark("cache.disk_hit", disk_hit)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("cache.memory_hit", memory_hit)->Unit(benchmark::kNanosecond);
  benchmark::RegisterBenchmark("cache.entry_bytes", entry_bytes, true)->Iterations(1);
  benchmark::RegisterBenchmark("cache.code_object_bytes", entry_bytes, false)->Iterations(1);
  register_trim_benchmark();
}

}  // namespace monojit::tools
