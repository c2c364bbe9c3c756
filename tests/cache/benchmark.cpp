// What a hit costs. `monojit_bench_cache --benchmark_filter=...`

#include <cstdlib>
#include <memory>

#include <benchmark/benchmark.h>

#include "cache/cache.h"
#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;
using testing::ScratchFolder;

/// A key as long as a real one: ten fields.
Key realistic_key() {
  Key key = example_key();
  constexpr std::size_t kKeyBytes = 180;
  key.bytes.resize(kKeyBytes);
  key.text =
      "minimax_m3.k1{tokens=1,index_heads=1,page_stride=16,kv_scale=per_token,eps=1e-06,saturate=1,page_base64=1}";
  key.generator = hex(key.digest());
  return key;
}

void memory_hit(benchmark::State& state) {
  static Cache cache(testing::in_folder({}));
  const Key key = realistic_key();
  cache.get_or_build(key, [] { return BuildOutput{}; });
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(cache.lookup(key));
}
BENCHMARK(memory_hit)->ThreadRange(1, 2);

void disk_hit(benchmark::State& state) {
  const ScratchFolder scratch;
  const Warnings warnings({});
  DiskStore store(scratch.path(), warnings);
  Entry entry = example_entry(1, static_cast<std::size_t>(state.range(0)));
  entry.key = realistic_key();
  store.store(entry);
  for ([[maybe_unused]] auto _ : state) {
    if (!store.lookup(entry.key)) std::abort();
  }
}
BENCHMARK(disk_hit)->Arg(40'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void store(benchmark::State& state) {
  const ScratchFolder scratch;
  const Warnings warnings({});
  DiskStore store(scratch.path(), warnings);
  const Entry entry = example_entry(1, static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) store.store(entry);
}
BENCHMARK(store)->Arg(40'000)->Unit(benchmark::kMicrosecond)->UseRealTime();

void key_digest(benchmark::State& state) {
  const Key key = realistic_key();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(key.digest());
}
BENCHMARK(key_digest);

}  // namespace
}  // namespace monojit::cache
