#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/jit.h"
#include "runtime/workers/worker_compiler.h"
#include "tools/warm/plan.h"

namespace monojit::tools {

struct WarmSettings {
  int jobs = 1;
  int retries = 0;  ///< of a job whose worker ended, or whose entry could not be stored
  runtime::WorkerOptions worker;
};

enum class WarmState : std::uint8_t { kNotStarted, kBuilding, kBuilt, kHit, kFailed };

struct WarmResult {
  WarmState state = WarmState::kNotStarted;
  int attempts = 0;
  std::string error;           ///< of kFailed
  runtime::Obtained obtained;  ///< of kBuilt and kHit
};

/// How many results of each state.
struct WarmCounts {
  std::size_t built = 0;
  std::size_t hit = 0;
  std::size_t failed = 0;
  std::size_t building = 0;
  std::size_t not_started = 0;
  std::size_t done() const { return built + hit + failed; }
};

/// Does the jobs of a plan, several at a time, each in a worker process; what is in the cache already is read.
class Warmer {
 public:
  using Changed = std::function<void(std::size_t job, const WarmResult& result)>;

  /// `changed` hears of every result's change, from any thread, one at a time.
  Warmer(runtime::JitOptions options, const WarmPlan& plan, const WarmSettings& settings, Changed changed);

  /// `planned` hears, before anything is done, how many jobs have to be built. Throws UserError when one has, and
  /// the compiler is missing.
  void run(const std::function<void(std::size_t missing)>& planned);
  /// Ends run() soon, from any thread: builds are given up, jobs that have not begun are not started.
  void cancel();
  bool cancelled() const { return cancelled_; }

  /// Calls `look` while nothing changes.
  void observe(const std::function<void(const std::vector<WarmResult>&, const WarmCounts&)>& look) const;
  /// What run() is at while no job is.
  const char* step() const { return step_; }
  /// After run().
  const std::vector<WarmResult>& results() const { return results_; }
  WarmCounts counts() const;
  /// Of the largest worker that answered; 0: none did.
  std::uint64_t peak_worker_bytes() const { return workers_->peak_bytes(); }
  runtime::Jit& jit() { return jit_; }

 private:
  std::size_t missing() const;
  void open_compilers(std::size_t count);
  void work();
  void attempt(std::size_t job);
  bool try_once(std::size_t job, WarmResult& result);
  void set(std::size_t job, WarmResult result);

  const WarmPlan& plan_;
  WarmSettings settings_;
  Changed changed_;
  std::shared_ptr<runtime::WorkerCompiler> workers_;
  bool has_remote_;
  runtime::Jit jit_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<const char*> step_ = "the beginning";
  std::atomic<std::size_t> next_ = 0;
  mutable std::mutex mutex_;
  std::vector<WarmResult> results_;
};

/// Why a process in strict mode would not get a job from the cache now.
struct StrictProblem {
  std::size_t job = 0;
  std::string text;
};

/// One for each job of the plan that such a process would not get, or could not load.
std::vector<StrictProblem> strict_problems(const runtime::JitOptions& options, const WarmPlan& plan);

}  // namespace monojit::tools
