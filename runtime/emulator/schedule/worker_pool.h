// The host threads that execute waves.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {

class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool() { resize(0); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// The calling thread of run() is one of them.
  void resize(u32 workers);
  [[nodiscard]] std::vector<std::unique_ptr<Worker>>& workers() { return workers_; }

  /// Runs `work(i)` for every worker i at once and waits for all. `work` throws nothing.
  void run(const std::function<void(u32)>& work);

 private:
  void serve(u32 index, u64 seen);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  const std::function<void(u32)>* work_ = nullptr;
  std::atomic<u64> turn_{0};     ///< counts up with each run()
  std::atomic<u32> working_{0};  ///< threads that have not finished the turn
  std::atomic<bool> stop_{false};
};

}  // namespace monojit::emulator
