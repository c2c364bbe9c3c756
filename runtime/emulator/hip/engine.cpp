#include "runtime/emulator/hip/engine.h"

#include <algorithm>
#include <chrono>

namespace monojit::emulator {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void add(LaunchReport& sum, const LaunchReport& report) {
  for (u32 i = 0; i < kCountClasses; ++i) sum.counts[i] += report.counts[i];
  sum.stray_matrix_ops += report.stray_matrix_ops;
  sum.out_of_range_buffer_lanes += report.out_of_range_buffer_lanes;
  sum.rounds += report.rounds;
  sum.seconds += report.seconds;
}

}  // namespace

Engine::Engine(const Settings& settings, Allocations& allocations)
    : scheduler_(settings, allocations), thread_([this] { serve(); }), host_thread_([this] { serve_host_calls(); }) {}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    wakes_.notify_all();
    host_wakes_.notify_all();
  }
  thread_.join();
  host_thread_.join();
}

TicketPtr Engine::submit(Operation operation) {
  const WorkPtr work = queue(std::move(operation));
  begin_if_ready(work);
  return work->ticket;
}

std::shared_ptr<QueuedWork> Engine::queue(Operation operation) {
  auto work = std::make_shared<QueuedWork>();
  work->operation = std::move(operation);
  work->ticket = std::make_shared<Ticket>();
  const Lock lock(mutex_);
  work->number = next_number_++;
  devices_[work->operation.device].unfinished.insert(work->number);
  work->missing = 1;  // begin_if_ready()
  for (const TicketPtr& ticket : work->operation.after) {
    if (ticket == nullptr || ticket->done()) continue;
    ++work->missing;
    ticket->dependents_.push_back(work);
  }
  work->operation.after.clear();
  return work;
}

void Engine::begin_if_ready(const WorkPtr& work) {
  Lock lock(mutex_);
  if (--work->missing > 0) return;
  // Short work that nothing holds back costs no change of threads.
  if (std::holds_alternative<LaunchRequest>(work->operation.work)) {
    ready_.emplace(work->number, work);
    wakes_.notify_one();
  } else {
    begin(lock, work);
  }
}

bool Engine::dropped(const QueuedWork& work) const {
  const DeviceState& device = devices_[work.operation.device];
  return device.failure && work.number < device.accepts_from;
}

/// Called with the lock; releases it while the work runs.
void Engine::begin(Lock& lock, const WorkPtr& work) {
  if (dropped(*work)) return finish(work);
  if (std::holds_alternative<LaunchRequest>(work->operation.work)) return run_launch(lock, work);
  if (const auto* const closure = std::get_if<std::function<void()>>(&work->operation.work)) {
    return run_closure(lock, work, *closure);
  }
  if (std::holds_alternative<HostCall>(work->operation.work)) {
    host_calls_.push_back(work);
    return host_wakes_.notify_one();
  }
  finish(work);
}

void Engine::run_closure(Lock& lock, const WorkPtr& work, const std::function<void()>& body) {
  std::optional<Failure> failure;
  lock.unlock();
  try {
    body();
  } catch (const Failure& thrown) {
    failure = thrown;
  }
  lock.lock();
  if (failure) note_failure(work->operation.device, *failure);
  finish(work);
}

void Engine::run_launch(Lock& lock, const WorkPtr& work) {
  std::optional<Failure> failure;
  LaunchReport report;
  lock.unlock();
  try {
    const std::lock_guard rounds(round_mutex_);
    report = scheduler_.run(std::get<LaunchRequest>(work->operation.work));
  } catch (const Failure& thrown) {
    failure = thrown;
  }
  lock.lock();
  DeviceState& device = devices_[work->operation.device];
  if (failure) {
    note_failure(work->operation.device, *failure);
  } else {
    if (work->number >= device.accepts_from) device.failure.reset();
    ++totals_.launches;
    add(totals_.sum, report);
  }
  finish(work);
}

void Engine::note_failure(u32 device, const Failure& failure) {
  if (devices_[device].failure) return;
  devices_[device].failure = failure;
  devices_[device].accepts_from = ~u64{0};
}

void Engine::finish(const WorkPtr& work) {
  Ticket& ticket = *work->ticket;
  ticket.seconds_ = now();
  ticket.done_.store(true, std::memory_order_release);
  devices_[work->operation.device].unfinished.erase(work->number);
  for (const WorkPtr& dependent : ticket.dependents_) {
    if (--dependent->missing == 0) ready_.emplace(dependent->number, dependent);
  }
  ticket.dependents_.clear();
  work->operation.work = std::monostate{};
  if (!ready_.empty()) wakes_.notify_one();
  ends_.notify_all();
}

void Engine::serve() {
  Lock lock(mutex_);
  for (;;) {
    wakes_.wait(lock, [&] { return stop_ || !ready_.empty(); });
    if (stop_) return;
    const WorkPtr work = ready_.begin()->second;
    ready_.erase(ready_.begin());
    begin(lock, work);
  }
}

void Engine::serve_host_calls() {
  Lock lock(mutex_);
  for (;;) {
    host_wakes_.wait(lock, [&] { return stop_ || !host_calls_.empty(); });
    if (stop_) return;
    const WorkPtr work = host_calls_.front();
    host_calls_.pop_front();
    run_closure(lock, work, std::get<HostCall>(work->operation.work).call);
  }
}

void Engine::throw_failure(u32 device) {
  DeviceState& state = devices_[device];
  if (!state.failure) return;
  if (state.accepts_from == ~u64{0}) state.accepts_from = next_number_;
  throw Failure(*state.failure);
}

void Engine::wait(u32 device, const TicketPtr& ticket) {
  Lock lock(mutex_);
  if (ticket != nullptr) ends_.wait(lock, [&] { return ticket->done(); });
  throw_failure(device);
}

void Engine::wait_device(u32 device) {
  Lock lock(mutex_);
  const u64 end = next_number_;
  const std::set<u64>& unfinished = devices_[device].unfinished;
  ends_.wait(lock, [&] { return unfinished.empty() || *unfinished.begin() >= end; });
  throw_failure(device);
}

void Engine::drain() {
  Lock lock(mutex_);
  const u64 end = next_number_;
  ends_.wait(lock, [&] {
    return std::ranges::all_of(devices_, [&](const DeviceState& device) {
      return device.unfinished.empty() || *device.unfinished.begin() >= end;
    });
  });
}

bool Engine::query(u32 device, const TicketPtr& ticket) {
  Lock lock(mutex_);
  if (ticket != nullptr && !ticket->done()) return false;
  throw_failure(device);
  return true;
}

void Engine::check(u32 device) {
  const Lock lock(mutex_);
  throw_failure(device);
}

void Engine::while_paused(const std::function<void()>& body) {
  const std::lock_guard rounds(round_mutex_);
  body();
}

LaunchTotals Engine::totals() {
  const Lock lock(mutex_);
  return totals_;
}

void Engine::reset_totals() {
  const Lock lock(mutex_);
  totals_ = {};
}

}  // namespace monojit::emulator
