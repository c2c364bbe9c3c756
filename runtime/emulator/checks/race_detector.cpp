#include "runtime/emulator/checks/race_detector.h"

#include <fmt/format.h>

#include "runtime/emulator/decode/program.h"
#include "runtime/emulator/schedule/workgroup.h"

namespace monojit::emulator {

/// What the waves of a workgroup share.
struct RaceGroup {
  u32 xcd = 0;     ///< ClockPlace::xcd
  u32 number = 0;  ///< ClockPlace::group
  u32 ended = 0;   ///< waves
  AccessHistory lds;
  std::unordered_map<u64, VectorClock> lds_hand_offs;  ///< by word offset, of LDS atomics
  BarrierClocks barriers[2];  ///< by the parity of their number: one may fill while one is left

  /// After the last wave's end.
  void forget() {
    lds.clear();
    lds_hand_offs.clear();
    barriers[0] = barriers[1] = {};
  }
};

namespace {

constexpr u32 kLastTime = ~u32{0};
constexpr u32 kMostXcds = 8;  // of a device

bool overlap(const PastAccess& one, const PastAccess& other) { return (one.bytes & other.bytes) != 0; }

}  // namespace

RaceDetector::RaceDetector() = default;
RaceDetector::~RaceDetector() = default;

RaceWave& RaceDetector::self_of(Wave& wave) {
  RaceWave& self = *wave.races;
  if (self.barriers_passed != self.barriers) pass_barrier(self);
  return self;
}

void RaceDetector::begin_launch(u32 device) {
  const std::lock_guard lock(mutex_);
  if (running_launches_++ == 0) {
    waves_.clear();
    groups_.clear();
    groups_of_xcd_.assign(groups_of_xcd_.size(), 0);
    history_.clear();
    hand_offs_.clear();
    devices_.clear();
    ended_launches_ = {};
  }
  devices_[device].before = ended_launches_;
}

/// What has ended is ordered before every later launch.
void RaceDetector::end_launch(u32 device) {
  const std::lock_guard lock(mutex_);
  ended_launches_.join(devices_[device].ended_waves);
  --running_launches_;
}

RaceGroup* RaceDetector::add_group(const WavePlace& place) {
  auto group = std::make_unique<RaceGroup>();
  group->xcd = place.device * kMostXcds + place.xcd;
  if (group->xcd >= groups_of_xcd_.size()) groups_of_xcd_.resize(group->xcd + 1);
  group->number = groups_of_xcd_[group->xcd]++;
  groups_.push_back(std::move(group));
  return groups_.back().get();
}

void RaceDetector::start_wave(Wave& wave, const WavePlace& place) {
  const std::lock_guard lock(mutex_);
  auto self = std::make_unique<RaceWave>();
  self->id = static_cast<u32>(waves_.size());
  self->number = wave.number;
  self->device = place.device;
  self->xcd = place.xcd;
  self->workgroup = wave.group->id;
  self->program = wave.program;
  self->group = wave.number == 0 ? add_group(place) : wave.group->waves.front().races->group;
  self->place = {.xcd = self->group->xcd, .group = self->group->number, .wave = wave.number};
  self->seen = self->clock = devices_[place.device].before;
  wave.races = self.get();
  waves_.push_back(std::move(self));
}

void RaceDetector::end_wave(Wave& wave) {
  const std::lock_guard lock(mutex_);
  RaceWave& self = *wave.races;
  ScopedClocks& ended = devices_[self.device].ended_waves;
  ended.near.raise(self.place, kLastTime);
  ended.device.raise(self.place, kLastTime);
  ended.system.raise(self.place, kLastTime);
  self.forget();
  if (++self.group->ended == wave.group->waves.size()) self.group->forget();
}

/// How far two waves are from each other: the scope that an access needs to be one for both.
Scope RaceDetector::distance(const RaceWave& one, const RaceWave& other) {
  if (one.group == other.group) return Scope::kWorkgroup;
  return one.device == other.device ? Scope::kDevice : Scope::kSystem;
}

bool RaceDetector::ordered(const PastAccess& before, const RaceWave& wave, const Access& now) const {
  if (before.wave == wave.id) return true;
  const RaceWave& other = *waves_[before.wave];
  if (now.lds) {
    if (before.scope != 0 && now.past.scope != 0) return true;
    return wave.lds_seen.of(other.place) >= before.time;
  }
  const Scope needed = distance(wave, other);
  const bool reaches_here = static_cast<Scope>(before.scope) >= needed;
  const bool reaches_there = static_cast<Scope>(now.past.scope) >= needed;
  if (reaches_here && reaches_there) return true;
  const bool same_cache = other.device == wave.device && other.xcd == wave.xcd;
  const bool no_stale_line = needed == Scope::kWorkgroup || now.past.write || reaches_there;
  const ScopedClocks& known = no_stale_line ? wave.seen : wave.clock;
  const VectorClock& clock = !before.write || same_cache || reaches_here ? known.near
                             : needed == Scope::kDevice                  ? known.device
                                                                         : known.system;
  return clock.of(other.place) >= before.time;
}

/// What a wave's hand-off passes on: its own accesses as far as they are done, and what it has been given.
const ScopedClocks& RaceDetector::published(RaceWave& wave) {
  wave.seen.near.raise(wave.place, wave.memory.done());
  wave.seen.device.raise(wave.place, wave.written_back_device);
  wave.seen.system.raise(wave.place, wave.written_back_system);
  return wave.seen;
}

void RaceDetector::record(const Wave& wave, const MicroOp* op, WordHistory& word, const Access& access) {
  const PastAccess& now = access.past;
  const RaceWave& self = *wave.races;
  if (word.write.exists() && overlap(word.write, now) && !ordered(word.write, self, access))
    report(wave, op, word.write, access);
  if (!now.write) {
    PastAccess& slot = word.reads[0].exists() && word.reads[0].wave != now.wave ? word.reads[1] : word.reads[0];
    slot = now;
    return;
  }
  for (const PastAccess& read : word.reads) {
    if (read.exists() && overlap(read, now) && !ordered(read, self, access)) report(wave, op, read, access);
  }
  word.write = now;
  word.reads = {};
}

void RaceDetector::give(RaceWave& self, u64 address, Scope scope, bool joins) {
  HandOff& hand_off = hand_offs_[address];
  if (!joins) hand_off.clocks = {};
  hand_off.clocks.join(published(self));
  hand_off.wave = self.id;
  hand_off.scope = scope;
}

void RaceDetector::take(RaceWave& self, u64 address, Scope scope) {
  const auto found = hand_offs_.find(address);
  if (found == hand_offs_.end() || found->second.wave == self.id) return;
  const Scope needed = distance(self, *waves_[found->second.wave]);
  if (scope < needed || found->second.scope < needed) return;
  if (self.taken.note(found->second.clocks)) self.seen.join(found->second.clocks);
}

void RaceDetector::access_memory(Wave& wave, const MemoryRequest& request, AccessKind kind) {
  const std::lock_guard lock(mutex_);
  RaceWave& self = self_of(wave);
  const Scope scope = request.policy.scope;
  const bool hands_over = scope >= Scope::kWorkgroup;
  Access access{.past = {.wave = self.id,
                         .time = self.memory.time(),
                         .instruction = wave.program->number_of(request.op),
                         .scope = static_cast<u8>(scope),
                         .write = kind != AccessKind::kLoad}};
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u64 begin = request.addresses[lane];
    const u32 length = request.length(lane);
    access.past.lane = static_cast<u8>(lane);
    if (hands_over && kind != AccessKind::kStore) {
      for_each_word(begin, length, [&](u64 word, u64, u8) { take(self, word, scope); });
    }
    history_.visit(begin, length, [&](WordHistory& history, u64 address, u8 bytes) {
      access.address = address;
      access.past.bytes = bytes;
      record(wave, request.op, history, access);
    });
    if (!hands_over || kind == AccessKind::kLoad) continue;
    for_each_word(begin, length, [&](u64 word, u64, u8) { give(self, word, scope, kind == AccessKind::kAtomic); });
  }
  self.memory.issue();
}

void RaceDetector::load(Wave& wave, const MemoryRequest& request) { access_memory(wave, request, AccessKind::kLoad); }
void RaceDetector::store(Wave& wave, const MemoryRequest& request) { access_memory(wave, request, AccessKind::kStore); }
void RaceDetector::atomic(Wave& wave, const MemoryRequest& request) {
  access_memory(wave, request, AccessKind::kAtomic);
}

void RaceDetector::lds_access(Wave& wave, const MicroOp* op, const LdsFacts& facts) {
  const std::lock_guard lock(mutex_);
  RaceWave& self = self_of(wave);
  RaceGroup& group = *self.group;
  const bool atomic = facts.reads && facts.writes;
  Access access{.past = {.wave = self.id,
                         .time = self.lds.time(),
                         .instruction = op->imm,
                         .scope = static_cast<u8>(atomic ? Scope::kWorkgroup : Scope::kWave),
                         .write = facts.writes},
                .lds = true};
  const u32* const addresses = wave.row(row_offset(facts.address));
  for (u64 lanes = wave.exec(); lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    access.past.lane = static_cast<u8>(lane);
    for (u32 i = 0; i < facts.count; ++i) {
      const u64 begin = u64{addresses[lane]} + facts.offsets[i];
      if (atomic) {
        for_each_word(begin, facts.bytes, [&](u64 word, u64, u8) {
          VectorClock& hand_off = group.lds_hand_offs[word];
          self.lds_seen.join(hand_off);
          hand_off.join(self.lds_seen);
          hand_off.raise(self.place, self.lds.done());
        });
      }
      group.lds.visit(begin, facts.bytes, [&](WordHistory& history, u64 address, u8 bytes) {
        access.address = address;
        access.past.bytes = bytes;
        record(wave, op, history, access);
      });
    }
  }
  self.lds.issue();
}

void RaceDetector::wait(Wave& wave, WaitCounts counts) {
  const std::lock_guard lock(mutex_);
  RaceWave& self = self_of(wave);
  self.memory.wait(counts.vector_memory);
  self.lds.wait(counts.lds);
  if (counts.vector_memory != 0 || !self.write_back_pending) return;
  self.write_back_pending = false;
  self.seen.device.join(self.write_back.device);
  self.seen.system.join(self.write_back.system);
  self.written_back_device = std::max(self.written_back_device, self.write_back.device.of(self.place));
  self.written_back_system = std::max(self.written_back_system, self.write_back.system.of(self.place));
}

void RaceDetector::invalidate(Wave& wave, CachePolicy policy) {
  const std::lock_guard lock(mutex_);
  RaceWave& self = self_of(wave);
  if (policy.scope >= Scope::kDevice) self.clock.join(self.seen);
}

/// Pushes out what this XCD's waves have stored, as far as this wave knows; done when it has been waited for.
void RaceDetector::write_back(Wave& wave, CachePolicy policy) {
  if (policy.scope < Scope::kDevice) return;
  const std::lock_guard lock(mutex_);
  RaceWave& self = self_of(wave);
  VectorClock near = published(self).near;
  near.raise(self.place, self.memory.time() - 1);
  self.write_back_pending = true;
  self.write_back.device.join_xcd(near, self.place.xcd);
  if (policy.scope == Scope::kSystem) self.write_back.system.join_xcd(near, self.place.xcd);
}

void RaceDetector::barrier(Wave& wave) {
  const std::lock_guard lock(mutex_);
  RaceWave& self = self_of(wave);
  ++self.barriers;
  BarrierClocks& barrier = self.group->barriers[self.barriers % 2];
  if (barrier.number != self.barriers) {
    barrier = {};
    barrier.number = self.barriers;
  }
  barrier.seen.join(published(self));
  barrier.clock.join(self.clock);
  barrier.lds.join(self.lds_seen);
  barrier.lds.raise(self.place, self.lds.done());
  if (self.lds.all_done() && ++barrier.settled == wave.group->waves.size()) self.group->lds.clear();
}

/// The wave runs again, so all have arrived.
void RaceDetector::pass_barrier(RaceWave& self) {
  self.barriers_passed = self.barriers;
  const BarrierClocks& barrier = self.group->barriers[self.barriers % 2];
  self.seen.join(barrier.seen);
  self.clock.join(barrier.clock);
  self.lds_seen.join(barrier.lds);
}

}  // namespace monojit::emulator
