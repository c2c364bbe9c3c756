#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/common/key_pattern.h"
#include "runtime/jit.h"
#include "tools/bench/benchmarks.h"
#include "tools/bench/temporary_folder.h"
#include "tools/report.h"

// Whole processes of this program: what a warm costs, and a start from a warm cache.
namespace monojit::tools {
namespace {

constexpr const char* kStartKeys = "minimax_m3.k1{tokens=*,signal=*}";  // 32
constexpr const char* kBuildKeys = "minimax_m3.k1{tokens=*}";           // 16
constexpr std::size_t kProbes = 1000;
constexpr int kStarts = 10;
constexpr unsigned kOwnerOnly = 0600;

struct Outcome {
  bool well = false;
  double seconds = 0;
  Json summary;  ///< as `monojit warm --json` has it
};

Json read_summary(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const Json report = Json::parse(stream, nullptr, false);
  return report.is_object() ? report.value("summary", Json::object()) : Json::object();
}

/// Runs `monojit warm PATTERN` in a process of its own. comgr's own cache is switched off.
Outcome run_warm(const std::filesystem::path& folder, const std::string& pattern, int jobs) {
  const std::filesystem::path result = folder / "result.json";
  std::vector<std::string> words = {
      "monojit", "warm", pattern, "--arch", kBenchArch, "--cache-dir", folder, "--jobs", std::to_string(jobs),
      "--json"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, result.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kOwnerOnly);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  setenv("AMD_COMGR_CACHE", "0", 1);
  pid_t process = -1;
  const auto start = std::chrono::steady_clock::now();
  const int failed = posix_spawn(&process, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(process, &status, 0) != process) return {};
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0, passed.count(), read_summary(result)};
}

/// Fills the folder with the pattern's kernels.
bool fill(benchmark::State& state, const TemporaryFolder& folder, const char* pattern) {
  if (run_warm(folder.path(), pattern, 2).well) return true;
  state.SkipWithError("warming failed");
  return false;
}

void warm_start(benchmark::State& state) {
  const TemporaryFolder folder;
  if (!fill(state, folder, kStartKeys)) return;
  while (state.KeepRunning()) {
    const Outcome outcome = run_warm(folder.path(), kStartKeys, 1);
    if (!outcome.well) return state.SkipWithError("a kernel was not served");
    state.SetIterationTime(outcome.seconds);
  }
}

void contains(benchmark::State& state) {
  const TemporaryFolder folder;
  if (!fill(state, folder, kBuildKeys)) return;
  const std::vector<kernels::BuildKey> distinct = kernels::expand_pattern(kBuildKeys);
  std::vector<kernels::BuildKey> keys;
  for (std::size_t i = 0; i < kProbes; ++i) keys.push_back(distinct[i % distinct.size()]);
  runtime::JitOptions options;
  options.cache_folder = folder.path();
  const runtime::Jit jit(options);  // its memory stays empty: every probe goes to disk
  while (state.KeepRunning()) {
    if (!jit.contains(keys, kBenchArch)) return state.SkipWithError("a kernel is missing");
  }
}

void jobs2_speedup(benchmark::State& state) {
  while (state.KeepRunning()) {
    double seconds[2] = {};
    for (const int jobs : {1, 2}) {
      const TemporaryFolder folder;
      const Outcome outcome = run_warm(folder.path(), kBuildKeys, jobs);
      if (!outcome.well) return state.SkipWithError("warming failed");
      seconds[jobs - 1] = outcome.seconds;
    }
    state.counters[kRatio] = seconds[0] / seconds[1];
  }
}

/// A member of the summary of a warm that builds 16 kernels with two workers.
void peak_memory(benchmark::State& state, const char* member) {
  while (state.KeepRunning()) {
    const TemporaryFolder folder;
    const Outcome outcome = run_warm(folder.path(), kBuildKeys, 2);
    if (!outcome.well) return state.SkipWithError("warming failed");
    state.counters[kBytes] = outcome.summary.value(member, 0.0);
  }
}

}  // namespace

void register_warm_benchmarks() {
  benchmark::RegisterBenchmark("cache.warm_start32", warm_start)
      ->UseManualTime()
      ->Iterations(kStarts)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("cache.contains1000", contains)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("cache.jobs2_speedup", jobs2_speedup)->Iterations(1);
  benchmark::RegisterBenchmark("cache.warm_peak_worker", peak_memory, "peak_worker_bytes")->Iterations(1);
  benchmark::RegisterBenchmark("cache.warm_peak_process", peak_memory, "peak_bytes")->Iterations(1);
}

}  // namespace monojit::tools
