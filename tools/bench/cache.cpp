#include <filesystem>

#include <unistd.h>

#include "runtime/jit.h"
#include "tools/bench/benchmarks.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

/// A cache folder that lives as long as this.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directories(path_); }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  runtime::JitOptions options() const {
    runtime::JitOptions options;
    options.cache_folder = path_;
    options.warn = say;
    return options;
  }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / ("monojit-bench-" + std::to_string(getpid()));
};

void disk_hit(benchmark::State& state) {
  const TemporaryFolder folder;
  const kernels::BuildKey key = k1_key(1);
  runtime::Jit(folder.options()).get(key, kBenchArch);
  while (state.KeepRunning()) {
    runtime::Jit jit(folder.options());  // its memory is empty
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
}

}  // namespace monojit::tools
