#include "runtime/emulator/memory/weak_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {
namespace {

constexpr std::size_t kLongestQueue = 62;  // vmcnt counts to 63
// A launch that looks after unwritten memory too takes about five times as long when it streams weights.
constexpr u32 kLaunchesToOneWhole = 8;

/// Half of the launches are extreme in one way or the other: hand-offs that lack something fail only under some.
Freedom draw_freedom(Random& random) {
  const auto one_of = [&](auto... chances) {
    const u32 all[] = {static_cast<u32>(chances)...};
    return all[random.below(sizeof...(chances))];
  };
  Freedom freedom;
  freedom.late_load = one_of(0, 32, 128);
  freedom.late_store = one_of(64, 128, 240);
  freedom.drain = one_of(16, 64, 160);
  freedom.preempt = one_of(8, 32, 96);
  freedom.evict_clean = one_of(0, 2, 32);
  freedom.evict_dirty = one_of(0, 2, 32);
  freedom.keep_stale = one_of(0, 128, 255);
  freedom.skip_unwritten = random.below(kLaunchesToOneWhole) != 0;
  return freedom;
}

WaveQueue& queue_of(Wave& wave) { return static_cast<WaveQueue&>(*static_cast<WaveMemoryState*>(wave.memory_state)); }

}  // namespace

struct WeakMemory::Device {
  explicit Device(LineVersions& versions) : level(versions) {}
  DeviceLevel level;
  std::vector<std::unique_ptr<XcdCaches>> xcds;
  Freedom freedom;
  u64 seed = 0;  ///< of the launch
};

WeakMemory::WeakMemory(const ChipLimits& chip, u32 devices, u64 seed, const Allocations& allocations)
    : seed_(seed), allocations_(allocations) {
  for (u32 i = 0; i < devices; ++i) {
    auto device = std::make_unique<Device>(versions_);
    for (u32 xcd = 0; xcd < chip.xcds; ++xcd) {
      device->xcds.push_back(std::make_unique<XcdCaches>(chip.compute_units / chip.xcds, device->level, versions_));
    }
    devices_.push_back(std::move(device));
  }
}

WeakMemory::~WeakMemory() = default;

bool WeakMemory::skips_unwritten(u32 device) const { return devices_[device]->freedom.skip_unwritten; }

void WeakMemory::begin_launch(u32 device) {
  Device& on = *devices_[device];
  on.seed = mix_seed(seed_, ++launches_);
  Random random(on.seed);
  on.freedom = draw_freedom(random);
  for (const auto& xcd : on.xcds) {
    const std::lock_guard lock(xcd->mutex);
    xcd->write_back(Scope::kSystem);
    xcd->invalidate_all();
  }
  others_write_ = allocations_.shared();
  on.level.set_shared(devices_.size() > 1 || others_write_);
}

void WeakMemory::end_launch(u32 device) {
  for (const auto& xcd : devices_[device]->xcds) {
    const std::lock_guard lock(xcd->mutex);
    xcd->write_back(Scope::kSystem);
  }
}

void WeakMemory::start_wave(Wave& wave, const WavePlace& place) {
  Device& on = *devices_[place.device];
  const std::lock_guard lock(queues_mutex_);
  auto queue = std::make_unique<WaveQueue>(wave, *on.xcds[place.xcd], place, on.freedom, versions_, ++waves_,
                                           mix_seed(on.seed, place.identity));
  wave.memory_state = static_cast<WaveMemoryState*>(queue.get());
  queues_.emplace(queue->serial(), std::move(queue));
}

void WeakMemory::end_wave(Wave& wave) {
  queue_of(wave).drain_all();
  abandon_wave(wave);
}

void WeakMemory::abandon_wave(Wave& wave) {
  const std::lock_guard lock(queues_mutex_);
  queues_.erase(queue_of(wave).serial());
  wave.memory_state = nullptr;
}

/// What is on its way arrives in time, whatever the wave does meanwhile.
bool WeakMemory::advance(Wave& wave) {
  if (wave.memory_state == nullptr) return true;
  WaveQueue& queue = queue_of(wave);
  drain_some(queue);
  return calm_ || others_write_ || wave.state != WaveState::kSleeping || !queue.polls.in_vain(versions_);
}

void WeakMemory::ran(Wave& wave, const Executed& executed) {
  if (wave.memory_state == nullptr) return;
  WaveQueue& queue = queue_of(wave);
  if (executed.others) queue.polls.disturb();
  queue.executed += executed.vector_memory;
  if (wave.state != WaveState::kSleeping) return;
  if (queue.undelivered != 0) queue.polls.disturb();
  queue.polls.sleep(wave.resume, std::exchange(queue.executed, 0));
}

void WeakMemory::drain_some(WaveQueue& queue) {
  while (!queue.empty() && queue.random.chance(queue.freedom().drain)) queue.drain_one();
}

bool WeakMemory::end_round(bool idle) {
  calm_ = idle;
  if (!idle) {
    evicted_ = false;
    return false;
  }
  bool changed = false;
  for (const auto& [serial, queue] : queues_) {
    queue->enter();
    changed |= queue->has_stores();
    queue->drain_all();
  }
  if (!evicted_) {
    evicted_ = changed = true;
    for (const auto& device : devices_) {
      for (const auto& xcd : device->xcds) {
        if (device->freedom.evict_dirty != 0) xcd->write_back(Scope::kSystem);
        if (device->freedom.evict_clean != 0) xcd->invalidate_all();
      }
      if (device->freedom.evict_clean != 0) device->level.invalidate();
    }
  }
  return changed;
}

bool WeakMemory::let_others_run(WaveQueue& queue) {
  drain_some(queue);
  return !calm_ && queue.random.chance(queue.freedom().preempt);
}

/// Keeps the worker's request, which gets another one.
void WeakMemory::keep(WaveQueue& queue, PendingKind kind, Wave& wave, std::unique_ptr<MemoryRequest>& request) {
  queue.wait_for(kLongestQueue);
  queue.push(kind, std::move(request));
  auto& spare = wave.worker->spare_requests;
  if (spare.empty()) {
    request = std::make_unique<MemoryRequest>();
  } else {
    request = std::move(spare.back());
    spare.pop_back();
  }
}

bool WeakMemory::load(Wave& wave, std::unique_ptr<MemoryRequest>& request) {
  WaveQueue& queue = queue_of(wave);
  const bool late = !calm_ && queue.random.chance(queue.freedom().late_load);
  if (late || queue.undelivered != 0) {
    keep(queue, PendingKind::kLoad, wave, request);
    if (!late) queue.hurry_latest();
  } else {
    queue.count_immediate(*request);
    queue.fetch(*request);
    request->deliver(wave, *request);
  }
  return let_others_run(queue);
}

bool WeakMemory::store(Wave& wave, std::unique_ptr<MemoryRequest>& request) {
  WaveQueue& queue = queue_of(wave);
  queue.polls.disturb();
  wave.worker->mark_written(*request);
  if (queue.random.chance(queue.freedom().late_store)) {
    keep(queue, PendingKind::kStore, wave, request);
  } else {
    queue.count_immediate(*request);
    queue.store(*request);
  }
  return let_others_run(queue);
}

u8* WeakMemory::atomic_place(Wave& wave, const MemoryRequest& request, u32 lane) {
  WaveQueue& queue = queue_of(wave);
  const bool first = (request.lanes & ((u64{1} << lane) - 1)) == 0;
  if (first) {
    queue.polls.disturb();
    wave.worker->mark_written(request);
    queue.count_immediate(request);
    if (request.op->dst != kNoOperand) queue.deliver_before_result(request);
  }
  const u64 address = request.addresses[lane];
  const std::lock_guard lock(queue.xcd().mutex);
  queue.xcd().pass_to_memory(queue.cu(), queue.spot_at(address));
  return reinterpret_cast<u8*>(address);
}

bool WeakMemory::finish_atomics(Wave& wave, const MemoryRequest& request) {
  WaveQueue& queue = queue_of(wave);
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    versions_.changed(queue.spot_at(request.addresses[__builtin_ctzll(lanes)]).line_number);
  }
  return let_others_run(queue);
}

void WeakMemory::scalar_load(Wave& wave, const MicroOp*, u64 address, u32 bytes, void* result) {
  constexpr u32 kStep = 4;
  WaveQueue& queue = queue_of(wave);
  queue.polls.disturb();
  const std::lock_guard lock(queue.xcd().mutex);
  for (u32 at = 0; at < bytes; at += kStep) {
    const Spot spot = queue.spot_at(address + at);
    if (spot.address == 0) return;
    const u8* const line = queue.xcd().scalar_line(queue.cu(), spot, queue.freedom(), queue.random);
    std::memcpy(static_cast<u8*>(result) + at, line + spot.offset(), kStep);
  }
}

bool WeakMemory::wait(Wave& wave, const MicroOp*, WaitCounts counts) {
  WaveQueue& queue = queue_of(wave);
  if (queue.empty()) return false;
  queue.wait_for(counts.vector_memory);
  return let_others_run(queue);
}

void WeakMemory::invalidate(Wave& wave, CachePolicy policy) {
  if (policy.scope < Scope::kDevice) return;
  WaveQueue& queue = queue_of(wave);
  queue.polls.disturb();
  const std::lock_guard lock(queue.xcd().mutex);
  queue.xcd().invalidate(queue.cu(), policy.scope);
}

void WeakMemory::write_back(Wave& wave, CachePolicy policy) {
  if (policy.scope < Scope::kDevice) return;
  WaveQueue& queue = queue_of(wave);
  queue.polls.disturb();
  queue.push_write_back(policy.scope);
}

void WeakMemory::invalidate_scalar(Wave& wave) {
  WaveQueue& queue = queue_of(wave);
  const std::lock_guard lock(queue.xcd().mutex);
  queue.xcd().invalidate_scalar(queue.cu());
}

}  // namespace monojit::emulator
