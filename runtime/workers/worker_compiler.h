#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/compiler/compiler_loader.h"
#include "runtime/kernel_builder.h"

namespace monojit::runtime {

class WorkerProcess;

struct WorkerOptions {
  int jobs = 1;  ///< processes that build at the same time; each is started when a build first wants it
  std::chrono::milliseconds deadline = std::chrono::minutes(10);  ///< of one build; see cache::Deadline
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;            ///< that one process may allocate
  std::filesystem::path program;  ///< none: monojit-worker, looked for beside the library
};

/// The process that built a kernel crashed, was killed, ran out of its memory or past its deadline. The text begins
/// with the kernel's key. Nothing of the build is kept, and the next one gets a new process.
class WorkerError : public CompileError {
 public:
  using CompileError::CompileError;
};

/// WorkerCompiler::cancel() ended the build.
class CancelledError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Builds in processes of its own: LLVM, which ends its process over what it can't compile, ends none that serves, and
/// this one never loads it. May be used from any thread; what is one build too many waits for its turn.
class WorkerCompiler final : public KernelBuilder {
 public:
  explicit WorkerCompiler(WorkerOptions options);
  /// Ends the processes. No build may run any more.
  ~WorkerCompiler() override;

  std::string toolchain() override;
  /// Throws UserError and CompileError as Compiler does, WorkerError and CancelledError.
  BuiltKernel build(const kernels::BuildKey& key, std::string_view arch, const StageCallback& on_stage = {}) override;
  int jobs() const override { return options_.jobs; }

  /// Ends every build that runs or waits for its turn, from any thread. Builds that begin later are not touched.
  void cancel();

  /// The most memory that one of the processes has had, in bytes; 0 before the first build.
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  std::unique_ptr<WorkerProcess> take(std::uint64_t epoch, const std::string& what);
  bool has_worker();
  std::unique_ptr<WorkerProcess> start();
  std::unique_ptr<WorkerProcess> worker_for(const nlohmann::json& request, std::uint64_t epoch,
                                            const std::string& what);
  void bury(std::unique_ptr<WorkerProcess> worker);
  void end_turn(std::unique_ptr<WorkerProcess> worker);
  nlohmann::json ask(const nlohmann::json& request, const std::string& what, const StageCallback& on_stage);
  nlohmann::json converse(WorkerProcess& worker, const std::string& what, const StageCallback& on_stage,
                          std::uint64_t epoch) const;
  void check(std::uint64_t epoch, const std::string& what) const;
  void note(const nlohmann::json& reply);

  WorkerOptions options_;
  std::atomic<std::uint64_t> epoch_ = 0;  ///< counts cancellations
  std::atomic<std::uint64_t> peak_bytes_ = 0;
  std::mutex start_mutex_;  ///< held while a process is started; before mutex_
  std::mutex mutex_;
  std::condition_variable freed_;
  int jobs_;       ///< of options_, or what could be started of them
  int busy_ = 0;   ///< turns that are taken
  int alive_ = 0;  ///< processes
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
  std::string toolchain_;
};

}  // namespace monojit::runtime
