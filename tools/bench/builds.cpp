#include "tools/bench/builds.h"

#include <ctime>
#include <exception>

#include <fmt/format.h>

#include "runtime/compiler/compiler_loader.h"
#include "tools/group_run.h"
#include "tools/kernel_run.h"

namespace monojit::tools {
namespace {

constexpr int kTokens[] = {1, 2, 3, 8, 16};
constexpr int kIndexHeads[] = {1, 4};
constexpr int kGroupTokens[] = {1, 4, 8};
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

runtime::EmulatorCounts share(const runtime::EmulatorCounts& counts, std::uint64_t ranks) {
  runtime::EmulatorCounts one;
  for (const auto value :
       {&runtime::EmulatorCounts::wave_instructions, &runtime::EmulatorCounts::vector, &runtime::EmulatorCounts::scalar,
        &runtime::EmulatorCounts::scalar_memory, &runtime::EmulatorCounts::vector_memory, &runtime::EmulatorCounts::lds,
        &runtime::EmulatorCounts::mfma, &runtime::EmulatorCounts::other}) {
    one.*value = counts.*value / ranks;
  }
  for (const auto bytes : {&runtime::EmulatorCounts::device_bytes, &runtime::EmulatorCounts::peer_bytes,
                           &runtime::EmulatorCounts::host_bytes, &runtime::EmulatorCounts::lds_bytes,
                           &runtime::EmulatorCounts::scratch_bytes}) {
    one.*bytes = {(counts.*bytes).loaded / ranks, (counts.*bytes).stored / ranks};
  }
  return one;
}

/// The sums of one rank, of `ranks` that did much the same.
std::vector<StageFigures> stages_of(const kernels::Family& family, const Json& profile, std::uint64_t ranks) {
  if (family.stages.empty() || profile.is_null()) return {};
  std::vector<CodeLine> code = profiled_code(profile.at(0));
  for (CodeLine& line : code) {
    line.executions /= ranks;
    line.out_of_range /= ranks;
  }
  return stage_figures(code, family.stages);
}

RunFigures launch(const kernels::BuildKey& key, const BuildsOptions& options) {
  static runtime::Jit jit({});  // in memory alone
  const kernels::Family& family = key.family();
  RunOptions run;
  run.device = "emulator";
  run.arch = options.arch;
  run.seed = options.seed;
  run.verify = options.verify;
  run.profile.on = !family.stages.empty();
  const RunResult result = runs_on_group(family) ? run_group(jit, key, run) : run_kernel(jit, key, run);
  if (result.failure) throw std::runtime_error(failure_text(*result.failure, result.failed_place));
  const auto ranks = static_cast<std::uint64_t>(family.peer_state == nullptr ? 1 : family.peer_state(key).ranks);
  RunFigures figures{.counts = share(result.emulator.value_or(runtime::EmulatorCounts{}), ranks),
                     .stages = stages_of(family, result.profile, ranks),
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
  for (const int tokens : kGroupTokens) keys.push_back(fmt::format("kimi_k3.k2{{tokens={},nblocks=4}}", tokens));
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

double floor_us(std::int64_t weight_bytes, double bytes_per_second) {
  return static_cast<double>(weight_bytes) / bytes_per_second * kUsPerSecond;
}

}  // namespace monojit::tools
