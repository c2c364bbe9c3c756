#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

#include "cache/disk_store.h"
#include "tools/bench/benchmarks.h"
#include "tools/bench/temporary_folder.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

constexpr std::uint64_t kFiles = 100'000;

/// Files of one byte under entries' names: a trim opens none of them.
void fill(const std::filesystem::path& folder) {
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    const cache::Digest digest = cache::digest_of(std::as_bytes(std::span(&i, 1)));
    const auto file = folder / cache::kEntriesFolder / cache::entry_name(digest);
    if (!std::filesystem::exists(file.parent_path())) std::filesystem::create_directories(file.parent_path());
    std::ofstream(file).put('x');
  }
}

void trim(benchmark::State& state) {
  const TemporaryFolder folder;
  fill(folder.path());
  const cache::Warnings warnings(say);
  cache::DiskStore store(folder.path(), warnings);
  cache::Trimmed trimmed;
  while (state.KeepRunning()) trimmed = store.trim({.max_bytes = kFiles / 2, .max_age_s = 0});
  if (trimmed.removed.entries != kFiles / 2 || trimmed.kept_entries != kFiles / 2)
    state.SkipWithError("half of the entries should have gone");
}

}  // namespace

void register_trim_benchmark() {
  benchmark::RegisterBenchmark("cache.trim100k", trim)->Unit(benchmark::kMillisecond)->Iterations(1);
}

}  // namespace monojit::tools
