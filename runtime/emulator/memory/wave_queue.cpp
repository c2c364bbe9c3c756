#include "runtime/emulator/memory/wave_queue.h"

#include <algorithm>
#include <cstring>

#include "runtime/emulator/execute/micro_op.h"
#include "runtime/emulator/execute/wave.h"

namespace monojit::emulator {
namespace {

/// A write-back covers the stores before it; accesses to one line keep their order.
bool must_follow(const PendingOperation& later, const PendingOperation& earlier) {
  if (earlier.done) return false;
  if (later.kind == PendingKind::kWriteBack) return earlier.kind == PendingKind::kStore;
  return (later.lines & earlier.lines) != 0;
}

/// The parts of each lane's access that lie in one line: calls visit(address, bytes, data of the part).
template <class Data, class Visit>
void for_each_piece(const MemoryRequest& request, Data* data, Visit visit) {
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u64 address = request.addresses[lane];
    const u32 bytes = request.length(lane);
    const u64 in_line = kLineBytes - address % kLineBytes;
    Data* const slot = data + u64{lane} * kLaneSlot;
    if (bytes <= in_line) {
      visit(address, bytes, slot);
    } else {
      visit(address, static_cast<u32>(in_line), slot);
      visit(address + in_line, static_cast<u32>(bytes - in_line), slot + in_line);
    }
  }
}

/// Whether all lanes load 16 bytes each, one behind the other and none across lines.
bool is_sweep(const MemoryRequest& request) {
  if (request.bytes != kLaneSlot || request.partial || ~request.lanes != 0) return false;
  const u64 begin = request.addresses[0];
  u64 other = begin % kLaneSlot;
  for (u32 lane = 1; lane < kLanes; ++lane) other |= request.addresses[lane] ^ (begin + u64{lane} * kLaneSlot);
  return other == 0;
}

/// Whether a pending load brings its data to registers that an atomic operation's old value goes to.
bool shares_registers(const PendingOperation& operation, const MemoryRequest& atomic) {
  if (operation.kind != PendingKind::kLoad || operation.request->op->dst == kNoOperand) return false;
  const auto end_of = [](const MemoryRequest& request) {
    return request.op->dst + (request.bytes + 3) / 4 * kRowBytes;
  };
  const MemoryRequest& load = *operation.request;
  return load.op->dst < end_of(atomic) && atomic.op->dst < end_of(load);
}

}  // namespace

// Lines of different allocations start far from each other, at places that do not depend on where the host put them.
constexpr u64 kAllocationStride = 0x9e3779b1;

void WaveQueue::enter() {
  Worker& worker = *wave_.worker;
  if (worker.device == place_.device) return;
  worker.device = place_.device;
  worker.last_hit = {};
}

Spot WaveQueue::spot_at(u64 address) {
  Worker& worker = *wave_.worker;
  if (!worker.reachable(address, address + 1)) return {};  // freed since the access was checked
  const Allocation& allocation = worker.last_hit;
  return {address, allocation.number * kAllocationStride + (line_of(address) - line_of(allocation.begin)) / kLineBytes,
          allocation.kind};
}

u64 WaveQueue::lines_of(const MemoryRequest& request) {
  u64 set = 0;
  u64 latest = 0;  // the line of the lane before
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u64 address = request.addresses[lane];
    if (address + request.length(lane) <= latest + kLineBytes && address >= latest) continue;
    latest = line_of(address);
    const u64 number = spot_at(address).line_number;
    set |= u64{1} << (number % 64);
    if (address % kLineBytes + request.length(lane) > kLineBytes) set |= u64{1} << ((number + 1) % 64);
  }
  return set;
}

bool WaveQueue::has_stores() const {
  return std::ranges::any_of(pending_, [](const auto& operation) { return operation.kind != PendingKind::kLoad; });
}

/// Where a load of such a policy finds a line: in a cache or memory, or brought to `buffer`.
const u8* WaveQueue::find_line(const Spot& spot, CachePolicy policy, LineData& buffer) {
  if (!passes_caches(policy)) {
    polls.disturb();  // each look may find the line evicted
    return xcd_.vector_line(place_.cu, spot, freedom_, random);
  }
  const u16 place = LineVersions::place_of(spot.line_number);
  polls.look(place, versions_.at(place));
  return xcd_.line_past(place_.cu, spot, policy, freedom_, random, buffer);
}

/// What an access that passes the caches comes to with each line, taken once.
std::unique_lock<std::recursive_mutex> WaveQueue::lock_passed(CachePolicy policy) {
  return passes_caches(policy) ? xcd_.lock_level() : std::unique_lock<std::recursive_mutex>();
}

void WaveQueue::fetch(MemoryRequest& request) {
  polls.count_load();
  const std::lock_guard lock(xcd_.mutex);
  const auto level = lock_passed(request.policy);
  if (is_sweep(request)) return fetch_sweep(request);
  LineData buffer;
  u64 latest = 0;  // neighbouring lanes mostly share a line, which is looked up once
  const u8* line = nullptr;
  for_each_piece(request, request.data, [&](u64 address, u32 bytes, u8* data) {
    if (line == nullptr || line_of(address) != latest) {
      const Spot spot = spot_at(address);
      latest = spot.line();
      line = spot.address == 0 ? nullptr : find_line(spot, request.policy, buffer);
      if (line == nullptr) return;
    }
    copy_whole(data, line + address % kLineBytes, bytes);
  });
}

void WaveQueue::fetch_sweep(MemoryRequest& request) {
  u64 address = request.addresses[0];
  const Spot first = spot_at(address);
  if (!passes_caches(request.policy)) {
    for (u32 line = 0; line < kLanes * kLaneSlot / kLineBytes; ++line) xcd_.prefetch(place_.cu, first.lines_on(line));
  }
  LineData buffer;
  for (u32 at = 0; at < kLanes * kLaneSlot;) {
    const u32 bytes = std::min(static_cast<u32>(kLineBytes - address % kLineBytes), kLanes * kLaneSlot - at);
    const Spot spot = spot_at(address);
    if (spot.address == 0) return;
    copy_chunks(request.data + at, find_line(spot, request.policy, buffer) + spot.offset(), bytes);
    address += bytes;
    at += bytes;
  }
}

/// What neighbouring lanes bring to one line goes there at once.
void WaveQueue::store(const MemoryRequest& request) {
  const std::lock_guard lock(xcd_.mutex);
  const auto level = lock_passed(request.policy);
  LineData line;
  Spot spot;
  ByteMask mask = 0;
  const auto flush = [&] {
    if (mask != 0) xcd_.store(place_.cu, spot, line, mask, request.policy, freedom_, random);
    mask = 0;
  };
  for_each_piece(request, request.data, [&](u64 address, u32 bytes, const u8* data) {
    if (line_of(address) != spot.line() || mask == 0) {
      flush();
      spot = spot_at(address);
      if (spot.address == 0) return;
    }
    std::memcpy(line.bytes + address % kLineBytes, data, bytes);
    mask |= byte_mask(address, bytes);
  });
  flush();
  ++wave_.worker->memory_writes;
}

void WaveQueue::push(PendingKind kind, std::unique_ptr<MemoryRequest> request) {
  const u64 lines = lines_of(*request);
  pending_.push_back({kind, ++issued, lines, std::move(request)});
  if (kind == PendingKind::kLoad) ++undelivered;
}

void WaveQueue::push_write_back(Scope scope) {
  pending_.push_back({PendingKind::kWriteBack, ++issued, 0, nullptr, scope});
}

void WaveQueue::perform(std::size_t index) {
  for (std::size_t i = 0; i < index; ++i) {
    if (must_follow(pending_[index], pending_[i])) perform(i);
  }
  PendingOperation& operation = pending_[index];
  operation.done = true;
  switch (operation.kind) {
    case PendingKind::kLoad:
      return fetch(*operation.request);
    case PendingKind::kStore:
      return store(*operation.request);
    case PendingKind::kWriteBack: {
      const std::lock_guard lock(xcd_.mutex);
      if (xcd_.write_back(operation.scope)) ++wave_.worker->memory_writes;
    }
  }
}

void WaveQueue::deliver_done() {
  bool in_order = true;
  std::erase_if(pending_, [&](PendingOperation& operation) {
    const bool load = operation.kind == PendingKind::kLoad;
    if (load) in_order &= operation.done;
    if (!operation.done || (load && !in_order)) return false;
    if (load) operation.request->deliver(wave_, *operation.request), --undelivered;
    if (operation.request != nullptr) wave_.worker->spare_requests.push_back(std::move(operation.request));
    return true;
  });
}

template <class Chosen>
void WaveQueue::perform_those(std::size_t end, Chosen chosen) {
  bool any = false;
  for (std::size_t i = 0; i < end; ++i) {
    if (pending_[i].done || !chosen(pending_[i])) continue;
    perform(i);
    any = true;
  }
  if (any) deliver_done();
}

void WaveQueue::count_immediate(const MemoryRequest& request) {
  ++issued;
  if (pending_.empty()) return;
  const u64 lines = lines_of(request);
  perform_those(pending_.size(), [&](const auto& earlier) { return (earlier.lines & lines) != 0; });
}

void WaveQueue::hurry_latest() {
  perform(pending_.size() - 1);
  deliver_done();
}

void WaveQueue::deliver_before_result(const MemoryRequest& atomic) {
  std::size_t end = pending_.size();
  while (end > 0 && !shares_registers(pending_[end - 1], atomic)) --end;
  perform_those(end, [](const auto& earlier) { return earlier.kind == PendingKind::kLoad; });
}

void WaveQueue::wait_for(u64 left) {
  perform_those(pending_.size(), [&](const auto& operation) { return operation.number + left <= issued; });
}

bool WaveQueue::may_go(std::size_t index) const {
  if (pending_[index].done) return false;
  for (std::size_t i = 0; i < index; ++i) {
    if (must_follow(pending_[index], pending_[i])) return false;
  }
  return true;
}

void WaveQueue::drain_one() {
  if (pending_.empty()) return;
  std::size_t index = random.below(static_cast<u32>(pending_.size()));
  while (!may_go(index)) --index;  // the first one always may: what is done stays only behind a load that is not
  perform(index);
  deliver_done();
}

}  // namespace monojit::emulator
