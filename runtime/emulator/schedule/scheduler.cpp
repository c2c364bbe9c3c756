#include "runtime/emulator/schedule/scheduler.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <immintrin.h>

#include "runtime/emulator/checks/checked_memory.h"
#include "runtime/emulator/checks/wave_checks.h"
#include "runtime/emulator/memory/plain_memory.h"
#include "runtime/emulator/memory/weak_memory.h"
#include "runtime/emulator/schedule/report.h"

namespace monojit::emulator {
namespace {

constexpr i32 kVisitBudget = 20'000;       // micro-ops in loops before a wave must let others run
constexpr u32 kClockReadsOfPoller = 50;    // in one visit: it waits for a time limit
constexpr u32 kSuccessorsOfRound = 1'000;  // workgroups that a worker starts in others' places, before all get a turn
constexpr std::size_t kArenasKept = 16;
constexpr u64 kMostWavesOfGroup = 16;

}  // namespace

Scheduler::Scheduler(const Settings& settings, Allocations& allocations)
    : settings_(settings), allocations_(allocations) {
  if (settings.checks.memory) allocations_.track_written();
  for (u32 i = 0; i < settings.devices; ++i) devices_.push_back(std::make_unique<Device>(settings.chip));
}

Scheduler::~Scheduler() {
  for (const auto& grid : grids_) launch_memory_.push_back(grid->launch_memory_);
  for (u8* const memory : launch_memory_) allocations_.release(memory);
}

std::shared_ptr<Grid> Scheduler::start(LaunchRequest request) {
  check_launch(request, settings_.chip);
  if (grids_.empty()) {
    pool_.resize(settings_.threads);
    order_.seed(settings_.seed);
    watch_.restart();
    if (settings_.skew != skew_.seed()) skew_ = Skew(settings_.skew, settings_.devices);
    choose_memory();
  }
  if (launch_memory_.empty()) {
    launch_memory_.push_back(static_cast<u8*>(allocations_.allocate(kLaunchMemoryBytes, Allocations::Use::kArguments)));
  }
  auto arena = std::make_unique<BlockArena>();
  if (!arenas_.empty()) {
    arena = std::move(arenas_.back());
    arenas_.pop_back();
  }
  auto grid = std::make_shared<Grid>(std::move(request), settings_.chip, launch_memory_.back(), std::move(arena),
                                     static_cast<u32>(pool_.workers().size()), variant_);
  launch_memory_.pop_back();
  if (model_ != nullptr) model_->begin_launch(grid->request().device);
  Device& device = *devices_[grid->request().device];
  const auto place = std::ranges::upper_bound(device.grids, grid->request().priority, {},
                                              [](const Grid* other) { return other->request().priority; });
  device.grids.insert(place, grid.get());
  std::ranges::fill(device.room, true);
  grids_.push_back(grid);
  return grid;
}

/// What waves see as memory, and which program they run, from the settings.
void Scheduler::choose_memory() {
  const Checks& checks = settings_.checks;
  const MemoryChoice choice{settings_.memory, settings_.seed, checks};
  if (choice == memory_choice_) return;
  memory_choice_ = choice;
  if (checks.memory) allocations_.track_written();
  const bool weak = settings_.memory == MemoryMode::kWeak;
  variant_ = checks.of_instructions() ? ProgramVariant::kChecked
             : weak || checks.any()   ? ProgramVariant::kObserved
                                      : ProgramVariant::kPlain;
  races_ = nullptr;
  model_.reset();
  if (variant_ == ProgramVariant::kPlain) return;
  if (weak) {
    model_ = std::make_unique<WeakMemory>(settings_.chip, settings_.devices, settings_.seed, allocations_);
  } else {
    model_ = std::make_unique<PlainMemory>();
  }
  if (!checks.of_memory()) return;
  auto checked = std::make_unique<CheckedMemory>(std::move(model_), checks.races,
                                                 checks.memory ? allocations_.written_bytes() : nullptr);
  races_ = checked->races();
  model_ = std::move(checked);
}

/// Makes the XCD's next workgroup resident; false if all have been or no compute unit has room.
bool Scheduler::admit_one(Device& device, u32 xcd, Visit& visit) {
  for (Grid* const grid : device.grids) {
    if (!grid->has_next(xcd)) continue;
    const auto place = device.placement.take(xcd, grid->demand());
    if (!place) continue;
    if (device.spare.empty()) device.spare.push_back(std::make_unique<Workgroup>());
    visit = {grid, device.spare.back().release()};
    device.spare.pop_back();
    grid->take_next(*place, *visit.group);
    visit.group->stalled = settings_.stalls(visit.group->device, visit.group->number);
    return true;
  }
  return false;
}

/// The first workgroups, round robin over the XCDs as the chip's dispatcher hands them out.
void Scheduler::admit() {
  for (const auto& device : devices_) {
    for (bool any = true; any;) {
      any = false;
      for (u32 xcd = 0; xcd < device->room.size(); ++xcd) {
        if (!device->room[xcd]) continue;
        Visit visit;
        device->room[xcd] = admit_one(*device, xcd, visit);
        if (device->room[xcd]) visits_.push_back(visit), any = true;
      }
    }
  }
}

/// Gives back what a workgroup holds.
void Scheduler::retire(const Visit& visit) {
  Device& device = *devices_[visit.grid->request().device];
  Workgroup& group = *visit.group;
  for (Wave& wave : group.waves) {
    if (wave.memory_state != nullptr) model_->abandon_wave(wave);
  }
  if (group.started()) visit.grid->arena().give_back(group.block);
  device.placement.give_back({group.xcd, group.cu, group.on_simds}, visit.grid->demand());
  device.room[group.xcd] = true;
  device.spare.emplace_back(&group);
}

void Scheduler::run_wave(Grid& grid, Workgroup& group, Wave& wave, Worker& worker) {
  const u64 clock_reads = worker.clock_reads;
  wave.worker = &worker;
  if (worker.segments != nullptr) worker.segments->start();
  const DynamicCounts before = worker.counts;
  if (_mm_getcsr() != wave.host_mode32) _mm_setcsr(wave.host_mode32);
  try {
    wave.resume->run(wave, wave.resume);
  } catch (const WaveFault& fault) {
    throw Failure(fault.kind(), describe_fault(grid.launch(), group, wave, fault));
  }
  const auto executed = [&](CountClass which) {
    return worker.counts[static_cast<u32>(which)] - before[static_cast<u32>(which)];
  };
  if (model_ != nullptr) {
    const u64 scalar_loads = executed(CountClass::kScalarMemory) - (worker.clock_reads - clock_reads);
    model_->ran(wave, {.vector_memory = executed(CountClass::kVectorMemory),
                       .others = executed(CountClass::kLds) + scalar_loads != 0});
  }
  wave.clock_reads += static_cast<u32>(worker.clock_reads - clock_reads);
  wave.watches_clock = wave.clock_reads >= kClockReadsOfPoller;
  if (LaunchRecorder* const recorder = grid.recorder(); recorder != nullptr) {
    recorder->ran(group, wave, executed(CountClass::kAll));
  }
  if (wave.state == WaveState::kEnded) ++group.ended;
}

void Scheduler::start_group(const Visit& visit, Worker& worker) {
  Workgroup& group = *visit.group;
  start_workgroup(group, visit.grid->launch(), visit.grid->arena().take());
  if (settings_.memory == MemoryMode::kWeak) spoil_lds(group, settings_.seed);
  group.checks.clear();
  if (model_ == nullptr) return;
  for (Wave& wave : group.waves) {
    if (variant_ == ProgramVariant::kChecked) {
      group.checks.push_back(std::make_shared<WaveChecks>(settings_.checks, settings_.chip.chip,
                                                          visit.grid->request().kernel->descriptor, races_));
      wave.checks = group.checks.back().get();
    }
    wave.worker = &worker;
    model_->start_wave(wave, {.device = group.device,
                              .xcd = group.xcd,
                              .cu = group.cu,
                              .identity = group.number * kMostWavesOfGroup + wave.number});
  }
}

void Scheduler::visit(const Visit& visit, Worker& worker) {
  Workgroup& group = *visit.group;
  if (group.stalled) return;
  if (!group.started()) start_group(visit, worker);
  LaunchRecorder* const recorder = visit.grid->recorder();
  if (recorder != nullptr) recorder->visit(group);
  for (Wave& wave : group.waves) {
    if (model_ != nullptr) {
      wave.worker = &worker;
      if (!model_->advance(wave)) continue;
    }
    wave.budget = kVisitBudget;
    wave.clock_reads = 0;
    const bool paused =
        wave.state == WaveState::kSleeping || wave.state == WaveState::kYielded || wave.state == WaveState::kPreempted;
    if (paused) wave.state = WaveState::kReady;
  }
  for (bool ran = true; ran && !visit.grid->stopped() && !interrupted_;) {
    ran = false;
    u32 waiting = 0;
    for (Wave& wave : group.waves) {
      if (wave.state == WaveState::kReady) {
        run_wave(*visit.grid, group, wave, worker);
        ran = true;
      }
      if (wave.state == WaveState::kAtBarrier) ++waiting;
    }
    if (waiting > 0 && waiting + group.ended == group.waves.size()) {
      if (recorder != nullptr) recorder->barrier_opened(group);
      for (Wave& wave : group.waves) {
        if (wave.state == WaveState::kAtBarrier) wave.state = WaveState::kReady;
      }
      ran = true;
    }
  }
}

/// One worker's share of a round. Neighbours in the list are of one device: workers that have far parts of it seldom
/// meet at a device's memory.
void Scheduler::work(u32 index) {
  Worker& worker = *pool_.workers()[index];
  u32 successors = 0;
  for (auto i = shares_.next(index); i && !interrupted_; i = shares_.next(index)) {
    Visit& place = visits_[*i];
    if (skew_.on() && skew_.holds(place.group->device, place.group->number)) continue;
    while (place.group != nullptr && !place.grid->stopped()) {
      worker.begin_visit(place.group->device);
      worker.skips_unwritten = model_ != nullptr && model_->skips_unwritten(place.group->device);
      worker.segments = place.grid->segments(index);
      try {
        visit(place, worker);
      } catch (const Failure& failure) {
        place.grid->fail(failure);
      } catch (const std::exception& error) {
        place.grid->fail({FailureKind::kOutOfMemory, error.what()});
      }
      place.grid->add(index, worker);
      if (place.grid->stopped() || !place.group->done()) break;
      watch_.note_progress();
      if (place.grid->recorder() != nullptr) place.grid->recorder()->ended(*place.group);
      Device& device = *devices_[place.group->device];
      const u32 xcd = place.group->xcd;
      const std::lock_guard lock(device.mutex);
      place.grid->note_end();
      retire(std::exchange(place, {}));
      if (++successors < kSuccessorsOfRound) device.room[xcd] = admit_one(device, xcd, place);
    }
  }
}

void Scheduler::prepare_workers() {
  const auto list = allocations_.snapshot();
  for (const auto& worker : pool_.workers()) {
    worker->clock = &clock_;
    worker->allocations = &allocations_;
    worker->model = model_.get();
    if (model_ != nullptr && worker->request == nullptr) worker->request = std::make_unique<MemoryRequest>();
    worker->strict_alignment = settings_.strict_alignment;
    if (worker->list == list) continue;
    worker->list = list;
    worker->last_hit = {};
  }
}

Scheduler::RoundResult Scheduler::round() {
  admit();
  prepare_workers();
  if (settings_.seed != 0) std::ranges::shuffle(visits_, order_);
  shares_.split(visits_.size(), pool_.workers().size());
  pool_.run([this](u32 index) { work(index); });
  RoundResult result;
  settle(result);
  return result;
}

/// Between two rounds only one thread runs.
void Scheduler::settle(RoundResult& result) {
  const auto drop_stopped = [&] {
    for (Visit& visit : visits_) {
      if (visit.group != nullptr && visit.grid->stopped()) retire(std::exchange(visit, {}));
    }
    std::erase_if(visits_, [](const Visit& visit) { return visit.group == nullptr; });
  };
  drop_stopped();
  for (const auto& grid : grids_) grid->add_round();
  end_traced_round();
  const auto verdict = watch_.finish_round(pool_.workers(), visits_, clock_, model_.get(), outside_, skew_.on());
  skew_.end_round(verdict != ProgressWatch::Verdict::kProgress);
  switch (verdict) {
    case ProgressWatch::Verdict::kProgress:
    case ProgressWatch::Verdict::kHeld:
      break;
    case ProgressWatch::Verdict::kIdle:
      result.idle = true;
      report_stalled();
      break;
    case ProgressWatch::Verdict::kDeadlock:
      report_deadlock();
      drop_stopped();
      break;
  }
  stop_overdue();
  drop_stopped();
  std::erase_if(grids_, [&](const std::shared_ptr<Grid>& grid) {
    if (!grid->ended()) return false;
    finish(*grid);
    result.ended.push_back(grid);
    return true;
  });
}

/// Once for each trace: launches that run together share one, and its time.
void Scheduler::end_traced_round() {
  std::set<Trace*> traces;
  for (const auto& grid : grids_) {
    if (grid->recorder() != nullptr) traces.insert(grid->request().trace);
  }
  for (Trace* const trace : traces) trace->end_round();
}

void Scheduler::report_deadlock() {
  std::vector<Grid*> grids;
  for (const auto& grid : grids_) {
    if (!grid->ended()) grids.push_back(grid.get());
  }
  fail_as_deadlock(grids, outside_ == nullptr ? "" : outside_->describe());
}

void Scheduler::fail_as_deadlock(std::span<Grid* const> grids, const std::string& others) {
  const std::vector<const Grid*> told(grids.begin(), grids.end());
  const std::string places = describe_waiting(told, visits_, settings_, *allocations_.snapshot()) + others;
  for (Grid* const grid : grids) {
    grid->fail({FailureKind::kDeadlock,
                fmt::format("kernel {}: deadlock: no wave can make progress, and nothing is stored any more{}",
                            grid->launch().program->kernel, places)});
  }
}

/// Launches of which only workgroups are left that the settings stall: they never end, whoever may still act.
void Scheduler::report_stalled() {
  if (settings_.stalled.empty()) return;
  for (const auto& grid : grids_) {
    const auto of_grid = [&](const Visit& visit) { return visit.grid == grid.get(); };
    const auto runs = [&](const Visit& visit) { return of_grid(visit) && !visit.group->stalled; };
    if (grid->ended() || grid->never_started() > 0 || std::ranges::any_of(visits_, runs)) continue;
    fail_as_deadlock(std::array{grid.get()}, "");
  }
}

void Scheduler::stop_overdue() {
  if (settings_.limit_seconds == 0) return;
  for (const auto& grid : grids_) {
    if (grid->ended() || grid->seconds() < settings_.limit_seconds) continue;
    const Grid* const overdue[] = {grid.get()};
    grid->fail({FailureKind::kTimeLimit,
                fmt::format("kernel {}: still running after {} s, the limit of MONOJIT_EMULATOR_LIMIT{}",
                            grid->launch().program->kernel, settings_.limit_seconds,
                            describe_waiting(overdue, visits_, settings_, *allocations_.snapshot()))});
  }
}

/// Takes back what the grid was lent.
void Scheduler::finish(Grid& grid) {
  if (model_ != nullptr) model_->end_launch(grid.request().device);
  std::erase(devices_[grid.request().device]->grids, &grid);
  grid.tell_observers();
  launch_memory_.push_back(grid.launch_memory_);
  if (arenas_.size() < kArenasKept) arenas_.push_back(std::move(grid.arena_));
}

bool Scheduler::watches_host_memory() const {
  const auto list = allocations_.snapshot();
  return std::ranges::any_of(visits_, [&](const Visit& visit) {
    return std::ranges::any_of(visit.group->waves, [&](const Wave& wave) {
      if (wave.state == WaveState::kEnded || wave.last_load == 0) return false;
      const Allocation* const memory = list->find(wave.last_load, wave.last_load + 1);
      return memory != nullptr && memory->host;
    });
  });
}

LaunchReport Scheduler::run(const LaunchRequest& request) {
  const auto grid = start(request);
  while (!grid->ended()) round();
  if (grid->failure()) throw Failure(*grid->failure());
  return grid->report();
}

}  // namespace monojit::emulator
