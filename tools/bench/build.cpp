#include <string>

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
  for (const kernels::BuildKey& key : {k1_key(1), k1_key(2), k2_build_key(8)}) {
    for (const Stage& stage : kStages) {
      const std::string name = fmt::format("build.{}.tokens{}.{}", key.family().name, key.value("tokens"), stage.name);
      benchmark::RegisterBenchmark(name, build, key, stage.time)
          ->UseManualTime()
          ->Iterations(kBuilds)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace monojit::tools
