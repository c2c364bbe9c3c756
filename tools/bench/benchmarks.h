#pragma once

#include <string>

#include <benchmark/benchmark.h>

#include "kernels/common/family.h"

/// The figures of `monojit bench`. Each function registers benchmarks of Google Benchmark under their final names; a
/// benchmark's value is its real time in its unit, or, where it has one, the counter `kRate`, per second, `kTraffic`,
/// bytes loaded and stored per second, `kRatio`, a plain number, or `kBytes`.
namespace monojit::tools {

inline constexpr const char* kRate = "rate";
inline constexpr const char* kTraffic = "traffic";
inline constexpr const char* kRatio = "ratio";
inline constexpr const char* kBytes = "bytes";
inline constexpr const char* kBenchArch = "gfx950";

/// build.minimax_m3.k1.tokens{1,2}.{emit,codegen,link}, build.kimi_k3.k2.tokens8.{..}: ms
void register_build_benchmarks();
/// cache.disk_hit, cache.memory_hit: from a key to its kernel's record and code object
/// cache.entry_bytes, cache.code_object_bytes: of K1's file in the cache, and of what a GPU loads of it
void register_cache_benchmarks();
/// cache.trim100k: to look at 100,000 entries and remove half of them
void register_trim_benchmark();
/// cache.warm_start32, cache.contains1000, cache.jobs2_speedup, cache.warm_peak_*: whole processes that warm or find
/// kernels
void register_warm_benchmarks();
/// cache.start.FAMILY: from a new process's first call to a loaded kernel, found on disk, with a HIP that does nothing
void register_start_benchmarks();
/// launch.pack, launch.pack.kimi_k3.k2: packing K1's and K2's arguments and the launch call, against a HIP that does
/// nothing
void register_launch_benchmarks();
/// launch.group_step: one rank's replay of a captured step of K2 and the watch behind it, against the same
void register_group_benchmarks();
/// emulator.*: wave-instructions, MFMAs or bytes per second of one core; seconds of a whole kernel
void register_emulator_benchmarks();
/// emulator.weak_ratio: how many times as long a kernel (K1) takes in the weak memory mode as in the coherent one
/// emulator.two_threads: how many times as fast two threads run it as one
void register_emulator_ratio_benchmarks();

/// K1 with one index head.
kernels::BuildKey k1_key(int tokens);
/// K2 behind four blocks.
kernels::BuildKey k2_build_key(int tokens);

}  // namespace monojit::tools
