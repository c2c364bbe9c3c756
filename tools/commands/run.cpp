#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "runtime/peer_group.h"
#include "tools/commands/commands.h"
#include "tools/group_run.h"
#include "tools/kernel_run.h"
#include "tools/saved_run.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

struct Options {
  std::string key;
  BuildFlags build;
  RunOptions run;
  std::string seed = "1";
  const CLI::Option* seed_given = nullptr;
  std::string layers;
  std::string repeat = "1";
  std::string ranks;
  std::string timeout;
  bool json = false;
};

constexpr std::uint64_t kMostLayers = 10'000;
constexpr std::uint64_t kMostRepetitions = 1'000'000;
constexpr std::uint64_t kMostRanks = 1'000'000;
constexpr std::uint64_t kMostTimeout = 1'000'000;

RunResult run_in_memory(runtime::Jit& jit, const kernels::BuildKey& key, const RunOptions& options) {
  const auto refuse = [&](bool given, const char* option) {
    if (given && !runs_on_group(key.family()))
      throw UserError(fmt::format("{}: {} does not run on a group of ranks", option, key.family().name));
  };
  refuse(options.ranks > 0, "--ranks");
  refuse(options.processes, "--processes");
  refuse(!options.fault.empty(), "--fault");
  try {
    return runs_on_group(key.family()) ? run_group(jit, key, options) : run_kernel(jit, key, options);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(key.text() + ": its tensors don't fit in memory");
  }
}

void run(Options& options) {
  const kernels::BuildKey key = kernels::BuildKey::parse(options.key);
  options.run.seed = decimal("--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max());
  if (!options.layers.empty())
    options.run.layers = static_cast<int>(decimal("--layers", options.layers, 1, kMostLayers));
  options.run.repeat = static_cast<int>(decimal("--repeat", options.repeat, 1, kMostRepetitions));
  if (!options.ranks.empty()) options.run.ranks = static_cast<int>(decimal("--ranks", options.ranks, 1, kMostRanks));
  options.run.timeout = runtime::kExchangeBound;
  if (!options.timeout.empty()) {
    if (!options.run.processes) throw UserError("--timeout is for --processes: ranks in one process need none");
    options.run.timeout = std::chrono::seconds(decimal("--timeout", options.timeout, 1, kMostTimeout));
  }
  options.run.arch = options.build.arch;
  follow_saved_run(key, options.seed_given->count() > 0, options.run);
  options.run.interruptible = true;
  const auto jit = make_jit(options.build);
  const RunResult result = run_in_memory(*jit, key, options.run);
  if (options.json) {
    print_json(to_json(result, options.run));
  } else {
    print_text(result, options.run);
  }
  if (!result.save_problem.empty()) say(result.save_problem);
  if (result.failure) say(failure_text(*result.failure, result.failed_place));
  const bool wrong = result.compared && !result.verified;
  if (wrong || result.failure || result.interrupted || !result.save_problem.empty()) throw Failed();
}

void add_group_options(CLI::App& command, Options& options) {
  RunOptions& run = options.run;
  command
      .add_option("--ranks", options.ranks,
                  "of a kernel that runs on a group of ranks: how many; refused where it wants another number")
      ->check(not_empty());
  command.add_flag("--processes", run.processes,
                   "of a kernel that runs on a group of ranks: a process a rank, instead of all in one");
  command
      .add_option("--timeout", options.timeout,
                  "with --processes: seconds that the ranks wait for one of them whose process is stopped or sends "
                  "nothing, before it is ended (default: 60)")
      ->check(not_empty());
  command
      .add_option("--fault", run.fault,
                  "of such a kernel: rank=N[,epoch=N][,layer=N][,ticks=N][,time=N] stalls a rank in one launch, so "
                  "that all give "
                  "up")
      ->check(not_empty());
}

}  // namespace

void add_run(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("run",
                                          "Build a kernel or find it in the cache, launch it on seeded data and "
                                          "compare every output with the host reference");
  command.add_option("KEY", options->key, "e.g. 'minimax_m3.k1{tokens=1,index_heads=1}'")->required();
  command.add_option("--device", options->run.device, "auto, hip, hip:N, emulator or emulator:N")
      ->check(not_empty())
      ->capture_default_str();
  options->seed_given =
      command.add_option("--seed", options->seed, "of the generated tensors: a decimal number")->capture_default_str();
  command
      .add_option("--inputs", options->run.inputs,
                  "safetensors file whose tensors replace generated ones by argument name")
      ->check(not_empty());
  command
      .add_option("--save", options->run.save,
                  "safetensors file to write: tensors before the launch as in/NAME, after it as NAME")
      ->check(not_empty());
  command
      .add_option("--layers", options->layers,
                  "launch so many layers one after the other on the same buffers, each on what the one before it "
                  "left, and compare every one")
      ->check(not_empty());
  command
      .add_option(
          "--repeat", options->repeat,
          "make the launches so many times; those behind the first time run back to back, compared on a group alone")
      ->capture_default_str();
  add_group_options(command, *options);
  command.add_flag("!--no-verify", options->run.verify, "compare nothing: all launches run back to back");
  command
      .add_option("--trace", options->run.trace,
                  "write the kernel's own time stamps, for Perfetto: a track a workgroup; wants timeline=1 in the key")
      ->check(not_empty());
  add_profile_flag(command, options->run.profile);
  add_build_flags(command, options->build);
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { run(*options); });
}

}  // namespace monojit::tools
