// Runs the waves of all launches, of all devices, together.
//
// All resident workgroups make progress in rounds: a round visits each of them once, and a visit runs every wave until
// it sleeps, waits at a barrier, has used its budget or is done. Workgroups beyond what a device holds start when
// others of their XCD end. With one thread the order is fixed by the seed; with more, each workgroup still belongs to
// one thread during a visit.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <vector>

#include "runtime/emulator/memory/memory_model.h"
#include "runtime/emulator/schedule/grid.h"
#include "runtime/emulator/schedule/progress.h"
#include "runtime/emulator/schedule/shares.h"
#include "runtime/emulator/schedule/skew.h"
#include "runtime/emulator/schedule/worker_pool.h"
#include "runtime/emulator/settings.h"

namespace monojit::emulator {

class RaceDetector;

class Scheduler {
 public:
  Scheduler(const Settings& settings, Allocations& allocations);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Without one nobody can act from outside. It outlives the scheduler.
  void set_outside(OutsideWorld* world) { outside_ = world; }

  /// The launch takes part from the next round on. Throws Failure if it can't be.
  std::shared_ptr<Grid> start(LaunchRequest request);
  [[nodiscard]] bool busy() const { return !grids_.empty(); }

  /// Some wave's latest load was of memory that the host program writes too. Between rounds.
  [[nodiscard]] bool watches_host_memory() const;

  /// Makes the running round end soon, and all later ones at once. From any thread; for the end of the process.
  void interrupt() { interrupted_ = true; }

  struct RoundResult {
    std::vector<std::shared_ptr<Grid>> ended;
    bool idle = false;  ///< all waves only wait
  };
  RoundResult round();

  /// Starts a launch and runs rounds until it has ended. Throws Failure: a bad launch, or what stopped the kernel, with
  /// kernel, workgroup, wave, instruction and source line.
  LaunchReport run(const LaunchRequest& request);

 private:
  struct Device {
    explicit Device(const ChipLimits& chip) : placement(chip), room(chip.xcds, 1) {}
    std::mutex mutex;
    Placement placement;
    std::vector<char> room;    ///< by XCD: something may have become free
    std::vector<Grid*> grids;  ///< in the order in which they get room
    std::vector<std::unique_ptr<Workgroup>> spare;
  };

  void admit();
  bool admit_one(Device& device, u32 xcd, Visit& visit);
  void retire(const Visit& visit);
  void work(u32 index);
  void visit(const Visit& visit, Worker& worker);
  void run_wave(Grid& grid, Workgroup& group, Wave& wave, Worker& worker);
  void settle(RoundResult& result);
  void finish(Grid& grid);
  void end_traced_round();
  void report_deadlock();
  void fail_as_deadlock(std::span<Grid* const> grids, const std::string& others);
  void report_stalled();
  void stop_overdue();
  void prepare_workers();
  void choose_memory();
  void start_group(const Visit& visit, Worker& worker);

  const Settings& settings_;
  Allocations& allocations_;
  OutsideWorld* outside_ = nullptr;
  WorkerPool pool_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::shared_ptr<Grid>> grids_;
  std::vector<Visit> visits_;                        ///< of a round; entries without a workgroup are gone
  Shares shares_;                                    ///< of the visits
  std::vector<std::unique_ptr<BlockArena>> arenas_;  ///< not in use
  std::vector<u8*> launch_memory_;                   ///< not in use
  std::mt19937_64 order_;
  ProgressWatch watch_;
  Skew skew_;
  std::unique_ptr<MemoryModel> model_;  ///< null: the host's memory itself, coherent
  struct MemoryChoice {
    MemoryMode memory = MemoryMode::kCoherent;
    u64 seed = 0;
    Checks checks;
    bool operator==(const MemoryChoice&) const = default;
  };
  MemoryChoice memory_choice_;  ///< that model_ and variant_ were made for
  ProgramVariant variant_ = ProgramVariant::kPlain;
  RaceDetector* races_ = nullptr;  ///< of model_
  std::atomic<bool> interrupted_{false};
  std::atomic<u64> clock_{1};
};

}  // namespace monojit::emulator
