#include "tools/bench/builds.h"

#include <ctime>
#include <exception>

#include <fmt/format.h>

#include "runtime/compiler/compiler_loader.h"
#include "tools/kernel_run.h"

namespace monojit::tools {
namespace {

constexpr int kTokens[] = {1, 2, 3, 8, 16};
constexpr int kIndexHeads[] = {1, 4};
constexpr double kMsPerSecond = 1e3;
constexpr double kUsPerSecond = 1e6;

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * kMsPerSecond + static_cast<double>(now.tv_nsec) * 1e-6;
}

void build(const kernels::BuildKey& key, const BuildsOptions& options, BuildFigures& figures) {
  const auto compiler = runtime::Compiler::open();
  (void)compiler->toolchain();  // opens LLVM and comgr, which a process does once
  for (int i = 0; i < options.times; ++i) {
    const double before = processor_ms();
    const runtime::Compiled built = compiler->compile(key, options.arch, {});
    const double spent = processor_ms() - before;
    if (i > 0 && spent >= figures.cpu_ms) continue;
    figures.cpu_ms = spent;
    figures.times_ms = built.kernel.record.times_ms;
    figures.resources = built.kernel.record.resources;
    figures.instructions = built.instructions;
  }
}

RunFigures launch(const kernels::BuildKey& key, const BuildsOptions& options) {
  static runtime::Jit jit({});  // in memory alone
  RunOptions run;
  run.device = "emulator";
  run.arch = options.arch;
  run.seed = options.seed;
  run.verify = options.verify;
  const RunResult result = run_kernel(jit, key, run);
  if (result.failure) throw std::runtime_error(failure_text(*result.failure, result.failed_place));
  RunFigures figures{.counts = result.emulator.value_or(runtime::EmulatorCounts{}),
                     .weight_bytes = result.weight_bytes,
                     .verified = {}};
  if (result.compared) figures.verified = result.verified;
  return figures;
}

}  // namespace

std::vector<std::string> default_builds() {
  std::vector<std::string> keys;
  for (const int scorer : {0, 1}) {
    for (const int heads : kIndexHeads) {
      for (const int tokens : kTokens) {
        keys.push_back(fmt::format("minimax_m3.k1{{tokens={},index_heads={},scorer={}}}", tokens, heads, scorer));
      }
    }
  }
  return keys;
}

BuildFigures measure_build(const kernels::BuildKey& key, const BuildsOptions& options) {
  BuildFigures figures;
  figures.key = key.text();
  try {
    build(key, options, figures);
    if (options.run) {
      figures.run = launch(key, options);
      if (!figures.run->verified.value_or(true)) figures.problem = "outputs differ from the reference";
    }
  } catch (const std::exception& error) {
    figures.problem = error.what();
  }
  return figures;
}

std::uint32_t instruction_count(const BuildFigures& figures) {
  std::uint32_t count = 0;
  for (const auto& [name, instructions] : figures.instructions) count += instructions;
  return count;
}

double floor_us(std::int64_t weight_bytes) {
  return static_cast<double>(weight_bytes) / kHbmBytesPerSecond * kUsPerSecond;
}

}  // namespace monojit::tools
