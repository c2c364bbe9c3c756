#include "runtime/emulator/hip/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "runtime/emulator/hip/errors.h"
#include "runtime/emulator/hip/host_activity.h"
#include "runtime/emulator/schedule/report.h"

namespace monojit::emulator {
namespace {

// Launches that a host makes one after the other begin together, unless it waits for one.
constexpr std::chrono::milliseconds kGathering{2};
// How long waiting kernels wait for a host that might act, before time jumps; and if all its threads wait themselves.
constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kPatienceWithWaitingHost{20};
constexpr std::chrono::microseconds kIdlePause{300};

/// The host function that this thread runs.
thread_local QueuedWork* own_call = nullptr;

[[noreturn]] void refuse_endless_wait() {
  throw HipError(
      hipErrorIllegalState,
      "a host function waits for work of its own stream, or for work that waits for it: this would never end");
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void add(LaunchReport& sum, const LaunchReport& report) {
  sum += report;
  sum.rounds += report.rounds;
  sum.seconds += report.seconds;
}

}  // namespace

Engine::Engine(const Settings& settings, Allocations& allocations)
    : settings_(settings), scheduler_(settings, allocations) {
  scheduler_.set_outside(this);
  thread_ = std::thread([this] { serve(); });
}

Engine::~Engine() { stop(); }

void Engine::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    stop_ = true;
    scheduler_.interrupt();
    wakes_.notify_all();
    host_wakes_.notify_all();
    ends_.notify_all();
  }
  thread_.join();
  // A host call may wait for ever.
  for (std::thread& thread : host_threads_) thread.detach();
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
  work->number = work->ticket->number_ = next_number_++;
  submitted_ = Clock::now();
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
  if (std::holds_alternative<LaunchRequest>(work->operation.work)) return start_launch(lock, work);
  if (const auto* const closure = std::get_if<std::function<void()>>(&work->operation.work)) {
    return run_closure(lock, work, *closure);
  }
  if (std::holds_alternative<HostCall>(work->operation.work)) {
    host_calls_.push_back(work);
    // One call may wait for what another one does.
    if (idle_host_threads_ < host_calls_.size()) host_threads_.emplace_back([this] { serve_host_calls(); });
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

void Engine::start_launch(Lock& lock, const WorkPtr& work) {
  std::optional<Failure> failure;
  std::shared_ptr<Grid> grid;
  lock.unlock();
  try {
    warn_of_missing_stalled(std::get<LaunchRequest>(work->operation.work));
    grid = scheduler_.start(std::get<LaunchRequest>(work->operation.work));
  } catch (const Failure& thrown) {
    failure = thrown;
  }
  lock.lock();
  if (!failure) {
    running_.emplace(grid.get(), work);
    return;
  }
  note_failure(work->operation.device, *failure);
  finish(work);
}

/// A number that no workgroup has would leave the test of a hang undone; but other launches may have it.
void Engine::warn_of_missing_stalled(const LaunchRequest& request) {
  const std::string text = describe_missing_stalled(request, settings_);
  if (!text.empty() && warnings_.insert(text).second) fmt::print(stderr, "monojit: {}\n", text);
}

void Engine::end_launch(const std::shared_ptr<Grid>& grid) {
  const auto entry = running_.extract(grid.get());
  const WorkPtr& work = entry.mapped();
  DeviceState& device = devices_[work->operation.device];
  add(totals_.sum, grid->report());
  if (grid->failure()) {
    note_failure(work->operation.device, *grid->failure());
  } else {
    if (work->number >= device.accepts_from && device.failure) {
      device.failure.reset();
      tell_failure();
    }
    ++totals_.launches;
  }
  finish(work);
}

void Engine::note_failure(u32 device, const Failure& failure) {
  DeviceState& state = devices_[device];
  if (state.failure && state.accepts_from == ~u64{0}) return;  // the first that was not reported
  state.failure = failure;
  state.accepts_from = ~u64{0};
  tell_failure();
}

/// To the processes that share memory with this one.
void Engine::tell_failure() {
  processes_.note_failed(
      std::ranges::any_of(devices_, [](const DeviceState& device) { return device.failure.has_value(); }));
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
  while (!stop_) {
    begin_ready(lock);
    if (running_.empty()) {
      wait_for_work(lock);
    } else {
      run_round(lock);
    }
  }
}

void Engine::begin_ready(Lock& lock) {
  while (!ready_.empty() && !stop_) {
    const WorkPtr work = ready_.begin()->second;
    ready_.erase(ready_.begin());
    begin(lock, work);
  }
}

/// Launches that come one after the other begin together, so that their order is the only thing that counts.
void Engine::wait_for_work(Lock& lock) {
  processes_.note_no_kernels();
  wakes_.wait(lock, [&] { return stop_ || !ready_.empty(); });
  while (!stop_ && !asked_ && Clock::now() < submitted_ + kGathering) wakes_.wait_until(lock, submitted_ + kGathering);
  asked_ = false;
}

void Engine::run_round(Lock& lock) {
  pauses_change_.wait(lock, [&] { return pauses_ == 0; });
  in_round_ = true;
  lock.unlock();
  const Scheduler::RoundResult result = scheduler_.round();
  lock.lock();
  in_round_ = false;
  pauses_change_.notify_all();
  for (const auto& grid : result.ended) end_launch(grid);
  if (result.idle && !idle_) idle_since_ = Clock::now();
  idle_ = result.idle;
  if (idle_ && outside_ >= Outside::kPerhaps && ready_.empty() && !stop_) wakes_.wait_for(lock, kIdlePause);
}

/// What the host program may still do when all kernels wait.
Outside Engine::host_state() {
  const Lock lock(mutex_);
  const bool hosts_wait = HostActivity::all_waiting();
  const auto quiet_since = idle_ ? std::max(HostActivity::latest(), idle_since_) : Clock::now();
  const bool patient = Clock::now() < quiet_since + (hosts_wait ? kPatienceWithWaitingHost : kPatience);
  if (!ready_.empty() || !host_calls_.empty() || HostActivity::any_calling()) return Outside::kWorking;
  return patient || (!hosts_wait && scheduler_.watches_host_memory()) ? Outside::kPerhaps : Outside::kNobody;
}

void Engine::note_progress() { processes_.note_working(); }

Outside Engine::look(bool for_time) {
  const Outside host = host_state();
  processes_.note_idle(host, for_time);
  outside_ = std::max(host, processes_.look());
  return outside_;
}

std::string Engine::describe() const { return processes_.describe(); }

void Engine::serve_host_calls() {
  Lock lock(mutex_);
  for (;;) {
    ++idle_host_threads_;
    host_wakes_.wait(lock, [&] { return stop_ || !host_calls_.empty(); });
    --idle_host_threads_;
    if (stop_) return;
    const WorkPtr work = host_calls_.front();
    host_calls_.pop_front();
    own_call = work.get();
    run_closure(lock, work, std::get<HostCall>(work->operation.work).call);
    own_call = nullptr;
  }
}

void Engine::throw_failure(u32 device) {
  DeviceState& state = devices_[device];
  if (!state.failure) return;
  if (state.accepts_from == ~u64{0}) state.accepts_from = next_number_;
  throw Failure(*state.failure);
}

template <class Awaited>
QueuedWork* Engine::behind_own_call(const Awaited& awaited) const {
  if (own_call == nullptr) return nullptr;
  std::vector<QueuedWork*> reached{own_call};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (awaited(*reached[i])) return reached[i];
    for (const WorkPtr& dependent : reached[i]->ticket->dependents_) {
      if (std::ranges::find(reached, dependent.get()) == reached.end()) reached.push_back(dependent.get());
    }
  }
  return nullptr;
}

template <class Condition>
void Engine::wait_until(Lock& lock, const Condition& condition) {
  if (condition()) return;
  asked_ = true;
  wakes_.notify_one();
  const HostActivity::Wait waiting;
  ends_.wait(lock, [&] { return stop_ || condition(); });
}

void Engine::wait(u32 device, const TicketPtr& ticket) {
  Lock lock(mutex_);
  if (behind_own_call([&](const QueuedWork& work) { return work.ticket == ticket; }) != nullptr) refuse_endless_wait();
  if (ticket != nullptr) wait_until(lock, [&] { return ticket->done(); });
  throw_failure(device);
}

void Engine::wait_device(u32 device) {
  Lock lock(mutex_);
  const auto of_device = [&](const QueuedWork& work) { return work.operation.device == device; };
  if (behind_own_call(of_device) != nullptr) refuse_endless_wait();
  const u64 end = next_number_;
  const std::set<u64>& unfinished = devices_[device].unfinished;
  wait_until(lock, [&] { return unfinished.empty() || *unfinished.begin() >= end; });
  throw_failure(device);
}

void Engine::drain() {
  Lock lock(mutex_);
  if (own_call != nullptr) refuse_endless_wait();
  const u64 end = next_number_;
  wait_until(lock, [&] {
    return std::ranges::all_of(devices_, [&](const DeviceState& device) {
      return device.unfinished.empty() || *device.unfinished.begin() >= end;
    });
  });
}

bool Engine::query(u32 device, const TicketPtr& ticket) {
  const Lock lock(mutex_);
  if (ticket != nullptr && !ticket->done()) {
    asked_ = true;
    wakes_.notify_one();
    return false;
  }
  throw_failure(device);
  return true;
}

void Engine::check(u32 device) {
  const Lock lock(mutex_);
  throw_failure(device);
}

void Engine::check_untold(u32 device) {
  const Lock lock(mutex_);
  if (devices_[device].accepts_from == ~u64{0}) throw_failure(device);
}

void Engine::wait_for_call(u32 device, const TicketPtr& ticket) {
  Lock lock(mutex_);
  if (QueuedWork* const work = behind_own_call([&](const QueuedWork& behind) { return behind.ticket == ticket; })) {
    work->operation.work = std::monostate{};  // what it would have touched may be gone then
    refuse_endless_wait();
  }
  wait_until(lock, [&] { return ticket->done(); });
  if (ticket->number_ < devices_[device].accepts_from) throw_failure(device);
}

void Engine::while_paused(const std::function<void()>& body) {
  Lock lock(mutex_);
  ++pauses_;
  pauses_change_.wait(lock, [&] { return !in_round_; });
  lock.unlock();
  body();
  lock.lock();
  --pauses_;
  pauses_change_.notify_all();
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
