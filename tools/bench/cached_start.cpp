#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "runtime/jit.h"
#include "tools/bench/benchmarks.h"
#include "tools/bench/noop_hip.h"
#include "tools/bench/temporary_folder.h"
#include "tools/commands/commands.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

constexpr int kStarts = 10;
constexpr double kMsPerSecond = 1e3;

struct Options {
  std::string key;
  std::string folder;
};

runtime::JitOptions jit_options(const std::filesystem::path& folder, bool strict) {
  runtime::JitOptions options;
  options.cache_folder = folder;
  options.strict = strict;
  options.warn = say;
  return options;
}

/// In a process that has done nothing yet.
void start(const Options& options) {
  const Stopwatch watch;
  const kernels::BuildKey key = kernels::BuildKey::parse(options.key);
  runtime::Jit jit(jit_options(options.folder, true));
  const auto kernel = jit.prepare(key, runtime::Device::at(noop_hip(), 0));
  print("{}\n", watch.ms());
}

/// Milliseconds that a new process takes; nothing: it failed, and has said why.
std::optional<double> start_process(const std::string& key, const std::filesystem::path& folder) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = fmt::format("'{}' cached-start '{}' '{}'", self, key, folder.string());
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  std::array<char, 64> line{};
  if (!output || std::fgets(line.data(), line.size(), output.get()) == nullptr) return std::nullopt;
  return std::stod(line.data());
}

void cached_start(benchmark::State& state, const kernels::BuildKey& key) {
  const TemporaryFolder folder;
  runtime::Jit(jit_options(folder.path(), false)).get(key, kBenchArch);
  while (state.KeepRunning()) {
    const auto ms = start_process(key.text(), folder.path());
    if (!ms) return state.SkipWithError("a process did not find the kernel in the cache");
    state.SetIterationTime(*ms / kMsPerSecond);
  }
}

}  // namespace

void add_cached_start(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("cached-start", "What bench measures of a new process: prints milliseconds");
  command.group("");  // not listed
  command.add_option("KEY", options->key)->required();
  command.add_option("FOLDER", options->folder)->required();
  command.callback([options] { start(*options); });
}

void register_start_benchmarks() {
  for (const kernels::BuildKey& key : {k1_key(1), k2_build_key(8)}) {
    benchmark::RegisterBenchmark(fmt::format("cache.start.{}", key.family().name), cached_start, key)
        ->UseManualTime()
        ->Iterations(kStarts)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace monojit::tools
