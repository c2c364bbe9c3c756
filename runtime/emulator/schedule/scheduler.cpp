#include "runtime/emulator/schedule/scheduler.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <exception>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <immintrin.h>

#include "runtime/emulator/schedule/progress.h"
#include "runtime/emulator/schedule/report.h"

namespace monojit::emulator {
namespace {

constexpr i32 kVisitBudget = 20'000;  // micro-ops in loops before a wave must let others run
constexpr u64 kLaunchMemoryBytes = 64 * 1024;
constexpr u64 kPacketOffset = kLaunchMemoryBytes - 64;  // the dispatch packet stands behind the arguments

/// The hsa_kernel_dispatch_packet_t that the dispatch pointer leads to.
void write_dispatch_packet(u8* packet, const LaunchRequest& request, const u8* kernarg) {
  std::memset(packet, 0, 64);
  for (u32 i = 0; i < 3; ++i) {
    const u16 block = static_cast<u16>(request.block[i]);
    const u32 grid = request.grid[i] * request.block[i];
    std::memcpy(packet + 4 + 2 * i, &block, sizeof block);
    std::memcpy(packet + 12 + 4 * i, &grid, sizeof grid);
  }
  const u32 lds = request.lds_bytes();
  std::memcpy(packet + 24, &request.kernel->descriptor.scratch_bytes, 4);
  std::memcpy(packet + 28, &lds, 4);
  const u64 address = reinterpret_cast<u64>(kernarg);
  std::memcpy(packet + 40, &address, sizeof address);
}

}  // namespace

/// One launch on its way.
struct Scheduler::Run {
  Scheduler& scheduler;
  LaunchContext launch;
  u64 total;
  u64 admitted = 0;
  std::vector<u64> next;  ///< of each XCD's share, the first workgroup that has not become resident
  Placement placement;
  Demand demand;
  std::vector<std::unique_ptr<Workgroup>> groups;
  std::vector<Workgroup*> resident;
  std::vector<Worker> workers;
  std::atomic<u64> cursor{0};
  bool finished = false;  ///< changes between rounds only, so that all threads leave after the same one
  std::atomic<bool> stop{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  ProgressWatch watch;
  std::mt19937_64 order;
  u64 rounds = 0;

  Run(Scheduler& owner, const LaunchRequest& request, u64 resident_limit);

  bool admit(Workgroup& group, u32 xcd);
  void fill(u64 resident_limit);
  Workgroup* replace(Workgroup* ended);
  void visit(Workgroup& group, Worker& worker);
  void run_wave(Workgroup& group, Wave& wave, Worker& worker);
  void work(Worker& worker);
  void end_round() noexcept;
  void fail(std::exception_ptr reason);
  void run_rounds();
  [[nodiscard]] LaunchReport report() const;
};

Scheduler::Run::Run(Scheduler& owner, const LaunchRequest& request, u64 resident_limit)
    : scheduler(owner),
      total(request.workgroups()),
      placement(owner.settings_.chip),
      demand(demand_of(request.kernel->descriptor, request.work_items(), request.lds_bytes(), owner.settings_.chip)),
      workers(owner.settings_.threads),
      order(owner.settings_.seed) {
  launch.request = &request;
  launch.program = request.kernel->program.get();
  launch.kernarg = owner.launch_memory_;
  launch.dispatch_packet = owner.launch_memory_ + kPacketOffset;
  launch.waves = request.waves();
  launch.register_bytes = launch.program->register_bytes();
  launch.scratch_bytes = u64{request.kernel->descriptor.scratch_bytes} * kLanes;
  launch.lds_bytes = request.lds_bytes();
  const u64 count = std::min(total, resident_limit);
  owner.arena_.prepare(launch.block_bytes(), count);
  const auto list = owner.allocations_.snapshot();
  for (Worker& worker : workers) {
    worker.clock = &owner.clock_;
    worker.allocations = &owner.allocations_;
    worker.list = list;
  }
  for (u32 xcd = 0; xcd < owner.settings_.chip.xcds; ++xcd) next.push_back(xcd);
  fill(count);
}

/// Makes the next workgroup of the XCD's share resident. False if all have been or no compute unit has room.
bool Scheduler::Run::admit(Workgroup& group, u32 xcd) {
  if (next[xcd] >= total) return false;
  const auto place = placement.take(xcd, demand);
  if (!place) return false;
  const auto& grid = launch.request->grid;
  group = Workgroup{};
  group.number = next[xcd];
  next[xcd] += next.size();
  ++admitted;
  group.id = {static_cast<u32>(group.number % grid[0]), static_cast<u32>(group.number / grid[0] % grid[1]),
              static_cast<u32>(group.number / grid[0] / grid[1])};
  group.xcd = place->xcd;
  group.cu = place->cu;
  group.on_simds = place->waves;
  return true;
}

/// The first workgroups, round robin over the XCDs as the chip's dispatcher hands them out.
void Scheduler::Run::fill(u64 resident_limit) {
  for (bool any = true; any && resident.size() < resident_limit;) {
    any = false;
    for (u32 xcd = 0; xcd < next.size() && resident.size() < resident_limit; ++xcd) {
      auto group = std::make_unique<Workgroup>();
      if (!admit(*group, xcd)) continue;
      any = true;
      resident.push_back(group.get());
      groups.push_back(std::move(group));
    }
  }
}

/// Frees the place of a workgroup that has ended for the next one of its XCD; null if there is none.
Workgroup* Scheduler::Run::replace(Workgroup* ended) {
  const std::lock_guard lock(failure_mutex);
  const u32 xcd = ended->xcd;
  placement.give_back({xcd, ended->cu, ended->on_simds}, demand);
  return admit(*ended, xcd) ? ended : nullptr;
}

void Scheduler::Run::run_wave(Workgroup& group, Wave& wave, Worker& worker) {
  wave.worker = &worker;
  wave.budget = kVisitBudget;
  if (_mm_getcsr() != wave.host_mode32) _mm_setcsr(wave.host_mode32);
  try {
    wave.resume->run(wave, wave.resume);
  } catch (const WaveFault& fault) {
    throw Failure(fault.kind(), describe_fault(launch, group, wave, fault));
  }
  if (wave.state == WaveState::kEnded) ++group.ended;
}

void Scheduler::Run::visit(Workgroup& group, Worker& worker) {
  if (!group.started()) start_workgroup(group, launch, scheduler.arena_.take());
  for (Wave& wave : group.waves) {
    if (wave.state == WaveState::kSleeping || wave.state == WaveState::kYielded) wave.state = WaveState::kReady;
  }
  for (bool ran = true; ran && !stop;) {
    ran = false;
    u32 waiting = 0;
    for (Wave& wave : group.waves) {
      if (wave.state == WaveState::kReady) {
        run_wave(group, wave, worker);
        ran = true;
      }
      if (wave.state == WaveState::kAtBarrier) ++waiting;
    }
    if (waiting > 0 && waiting + group.ended == group.waves.size()) {
      for (Wave& wave : group.waves) {
        if (wave.state == WaveState::kAtBarrier) wave.state = WaveState::kReady;
      }
      watch.note_progress();
      ran = true;
    }
  }
}

void Scheduler::Run::work(Worker& worker) {
  for (u64 i = cursor++; i < resident.size() && !stop; i = cursor++) {
    Workgroup*& group = resident[i];
    try {
      while (group != nullptr && !stop) {
        visit(*group, worker);
        if (!group->done()) break;
        watch.note_progress();
        scheduler.arena_.give_back(group->block);
        group = replace(group);
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
}

void Scheduler::Run::fail(std::exception_ptr reason) {
  const std::lock_guard lock(failure_mutex);
  if (!failure) failure = std::move(reason);
  stop = true;
}

/// Between two rounds only one thread runs.
void Scheduler::Run::end_round() noexcept {
  try {
    ++rounds;
    cursor = 0;
    std::erase(resident, nullptr);
    finished = resident.empty() || stop;
    if (finished) return;
    if (watch.finish_round(workers, resident, launch, scheduler.clock_)) {
      throw Failure(FailureKind::kDeadlock,
                    describe_deadlock(launch, resident, total - admitted, *scheduler.allocations_.snapshot()));
    }
    if (scheduler.settings_.seed != 0) std::ranges::shuffle(resident, order);
  } catch (...) {
    fail(std::current_exception());
    finished = true;
  }
}

Scheduler::Scheduler(const Settings& settings, Allocations& allocations)
    : settings_(settings), allocations_(allocations) {}

Scheduler::~Scheduler() {
  if (launch_memory_ != nullptr) allocations_.release(launch_memory_);
}

/// Runs rounds until every workgroup has ended or something has gone wrong.
void Scheduler::Run::run_rounds() {
  const u32 host_mode = _mm_getcsr();
  if (workers.size() == 1) {
    while (!finished) {
      work(workers[0]);
      end_round();
    }
  } else {
    std::barrier rounds_barrier(static_cast<std::ptrdiff_t>(workers.size()), [this]() noexcept { end_round(); });
    std::vector<std::jthread> threads;
    threads.reserve(workers.size());
    for (Worker& worker : workers) {
      threads.emplace_back([&] {
        while (!finished) {
          work(worker);
          rounds_barrier.arrive_and_wait();
        }
      });
    }
  }
  _mm_setcsr(host_mode);
  if (failure) std::rethrow_exception(failure);
}

LaunchReport Scheduler::Run::report() const {
  LaunchReport report;
  for (const Worker& worker : workers) {
    for (u32 i = 0; i < kCountClasses; ++i) report.counts[i] += worker.counts[i];
    report.stray_matrix_ops += worker.stray_matrix_ops;
    report.out_of_range_buffer_lanes += worker.out_of_range_buffer_lanes;
  }
  report.rounds = rounds;
  return report;
}

/// Puts the kernel arguments and the dispatch packet into emulated memory.
void Scheduler::write_launch_memory(const LaunchRequest& request) {
  if (launch_memory_ == nullptr) {
    launch_memory_ = static_cast<u8*>(allocations_.allocate(kLaunchMemoryBytes, Allocations::Use::kHost));
  }
  std::vector<u8> arguments = request.arguments;
  fill_hidden_arguments(request, arguments);
  if (arguments.size() > kPacketOffset) {
    throw Failure(FailureKind::kInvalidLaunch, "more than 64 KiB of kernel arguments");
  }
  std::memset(launch_memory_, 0, kPacketOffset);
  std::memcpy(launch_memory_, arguments.data(), arguments.size());
  write_dispatch_packet(launch_memory_ + kPacketOffset, request, launch_memory_);
}

LaunchReport Scheduler::run(const LaunchRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  check_launch(request, settings_.chip);
  const Residency fits =
      residency(request.kernel->descriptor, request.work_items(), request.lds_bytes(), settings_.chip);
  const u64 capacity = u64{fits.workgroups_per_cu} * settings_.chip.compute_units;
  write_launch_memory(request);
  Run run(*this, request, capacity);
  run.run_rounds();
  LaunchReport report = run.report();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace monojit::emulator
