// Does the queued work of all streams and devices, on a thread in the background: a host that only polls sees progress.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "runtime/emulator/failure.h"
#include "runtime/emulator/hip/operation.h"
#include "runtime/emulator/hip/process_group.h"
#include "runtime/emulator/schedule/scheduler.h"

namespace monojit::emulator {

/// An operation on its way.
struct QueuedWork {
  Operation operation;
  TicketPtr ticket;
  u64 number = 0;   ///< in the order of submission
  u32 missing = 0;  ///< operations that must end first
};

/// What the launches of all devices did so far.
struct LaunchTotals {
  u64 launches = 0;
  LaunchReport sum;
};

class Engine : private OutsideWorld {
 public:
  Engine(const Settings& settings, Allocations& allocations);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Queues the operation. A copy or fill with nothing left to wait for is done before this returns.
  TicketPtr submit(Operation operation);
  /// The two halves of submit(), for callers that hold a lock of their own during the first.
  [[nodiscard]] std::shared_ptr<QueuedWork> queue(Operation operation);
  void begin_if_ready(const std::shared_ptr<QueuedWork>& work);

  /// Until the work has ended. Throws the device's failure, if there is one.
  void wait(u32 device, const TicketPtr& ticket);
  /// Until everything submitted to the device so far has ended. Throws the device's failure, if there is one.
  void wait_device(u32 device);
  /// Until everything submitted so far to any device has ended, whatever became of it.
  void drain();
  /// True if the work has ended. Throws the device's failure, if there is one.
  [[nodiscard]] bool query(u32 device, const TicketPtr& ticket);
  /// Throws the failure of the device's earlier work. From then on it counts as reported: the device takes work again,
  /// and the next launch that succeeds clears it. Work submitted before the report is dropped.
  void check(u32 device);
  /// Throws the failure of the device's earlier work if nobody has been told of it, as check() does.
  void check_untold(u32 device);
  /// Until the work of a synchronous call has ended. Throws if it failed or was dropped: the device's failure.
  void wait_for_call(u32 device, const TicketPtr& ticket);
  /// Runs `body` while no kernel does. Not from the engine's own threads.
  void while_paused(const std::function<void()>& body);

  /// Ends the threads; what is queued is abandoned. For the end of the process.
  void stop();

  [[nodiscard]] ProcessGroup& processes() { return processes_; }
  [[nodiscard]] LaunchTotals totals();
  void reset_totals();

 private:
  using Clock = std::chrono::steady_clock;
  using WorkPtr = std::shared_ptr<QueuedWork>;
  using Lock = std::unique_lock<std::mutex>;
  struct DeviceState {
    std::optional<Failure> failure;
    u64 accepts_from = 0;      ///< work with lower numbers is dropped while there is a failure
    std::set<u64> unfinished;  ///< numbers
  };

  void serve();
  void serve_host_calls();
  void begin(Lock& lock, const WorkPtr& work);
  void run_closure(Lock& lock, const WorkPtr& work, const std::function<void()>& body);
  void start_launch(Lock& lock, const WorkPtr& work);
  void warn_of_missing_stalled(const LaunchRequest& request);
  void end_launch(const std::shared_ptr<Grid>& grid);
  void begin_ready(Lock& lock);
  void run_round(Lock& lock);
  void wait_for_work(Lock& lock);
  void note_progress() override;
  Outside look(bool for_time) override;
  void note_jump(u64 ticks) override { processes_.note_jump(ticks); }
  u64 jumped_elsewhere() override { return processes_.jumped_elsewhere(); }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] Outside host_state();
  /// If this thread runs a host function: its work, or one that can only begin after it, for which `awaited` is true.
  /// To wait for it would never end. Else null.
  template <class Awaited>
  [[nodiscard]] QueuedWork* behind_own_call(const Awaited& awaited) const;
  /// For a host thread: waits for work to end, or for the process to.
  template <class Condition>
  void wait_until(Lock& lock, const Condition& condition);
  void note_failure(u32 device, const Failure& failure);
  void tell_failure();
  void finish(const WorkPtr& work);
  void throw_failure(u32 device);
  [[nodiscard]] bool dropped(const QueuedWork& work) const;

  const Settings& settings_;
  std::set<std::string> warnings_;  ///< the engine's thread's own; each is said once
  std::mutex mutex_;
  std::condition_variable wakes_;       ///< the engine's thread
  std::condition_variable host_wakes_;  ///< the threads of host calls
  std::condition_variable ends_;        ///< hosts that wait
  std::condition_variable pauses_change_;
  std::map<u64, WorkPtr> ready_;
  std::deque<WorkPtr> host_calls_;
  std::array<DeviceState, kMostDevices> devices_;
  LaunchTotals totals_;
  u64 next_number_ = 0;
  std::map<const Grid*, WorkPtr> running_;
  bool asked_ = false;           ///< a host waits or asked since the engine last began something
  Clock::time_point submitted_;  ///< the latest operation
  bool idle_ = false;            ///< kernels only wait
  Clock::time_point idle_since_;
  Outside outside_ = Outside::kNobody;  ///< the latest answer
  bool in_round_ = false;
  u32 pauses_ = 0;  ///< who asked for a pause between rounds
  bool stop_ = false;
  ProcessGroup processes_;
  Scheduler scheduler_;
  std::thread thread_;
  std::vector<std::thread> host_threads_;  ///< as many as there were calls at once
  std::size_t idle_host_threads_ = 0;
};

}  // namespace monojit::emulator
