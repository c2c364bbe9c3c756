#include "runtime/emulator/schedule/worker_pool.h"

#include <immintrin.h>

namespace monojit::emulator {
namespace {

// A round of waiting waves takes some microseconds: going to sleep in between would cost more.
constexpr int kSpins = 2000;

/// Waits until the value is not `old`.
template <class T>
void wait_for_change(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    _mm_pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

void WorkerPool::resize(u32 workers) {
  if (workers == workers_.size()) return;
  stop_ = true;
  ++turn_;
  turn_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  workers_.clear();
  stop_ = false;
  for (u32 i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>());
  for (u32 i = 1; i < workers; ++i) threads_.emplace_back([this, i, seen = turn_.load()] { serve(i, seen); });
}

void WorkerPool::serve(u32 index, u64 seen) {
  for (;; ++seen) {
    wait_for_change(turn_, seen);
    if (stop_) return;
    (*work_)(index);
    if (--working_ == 0) working_.notify_all();
  }
}

void WorkerPool::run(const std::function<void(u32)>& work) {
  const u32 host_mode = _mm_getcsr();
  work_ = &work;
  working_ = static_cast<u32>(threads_.size());
  if (!threads_.empty()) {
    ++turn_;
    turn_.notify_all();
  }
  work(0);
  for (u32 left = working_; left != 0; left = working_) wait_for_change(working_, left);
  _mm_setcsr(host_mode);
}

}  // namespace monojit::emulator
