#include <fmt/format.h>

#include "runtime/compiler/compiler_loader.h"
#include "tools/bench/benchmarks.h"

namespace monojit::tools {
namespace {

constexpr int kBuilds = 5;
constexpr double kMsPerSecond = 1e3;

/// Builds anew in each iteration and counts one stage of it.
void build(benchmark::State& state, const kernels::BuildKey& key, double runtime::BuildTimes::* stage) {
  const auto compiler = runtime::Compiler::open();
  (void)compiler->build(key, kBenchArch);  // pages in LLVM and comgr
  while (state.KeepRunning())
    state.SetIterationTime(compiler->build(key, kBenchArch).record.times_ms.*stage / kMsPerSecond);
}

}  // namespace

void register_build_benchmarks() {
  struct Stage {
    const char* name;
    double runtime::BuildTimes::* time;
  };
  constexpr Stage kStages[] = {{"emit", &runtime::BuildTimes::emit},
                               {"codegen", &runtime::BuildTimes::codegen},
                               {"link", &runtime::BuildTimes::link}};
  for (const int tokens : {1, 2}) {
    for (const Stage& stage : kStages) {
      benchmark::RegisterBenchmark(fmt::format("build.minimax_m3.k1.tokens{}.{}", tokens, stage.name), build,
                                   k1_key(tokens), stage.time)
          ->UseManualTime()
          ->Iterations(kBuilds)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace monojit::tools
