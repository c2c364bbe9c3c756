#include "runtime/emulator/schedule/workgroup.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>

#include "runtime/emulator/execute/mode.h"
#include "runtime/emulator/failure.h"
#include "runtime/emulator/memory/random.h"

namespace monojit::emulator {
namespace {

constexpr u64 kLineBytes = 64;
constexpr u64 kGuardBytes = 256;  // behind LDS: a vector access of the host may read past the end
constexpr u64 kHugePage = u64{2} << 20;

u64 round_up(u64 value, u64 unit) { return (value + unit - 1) / unit * unit; }

u64 lds_room(const LaunchContext& launch) { return round_up(launch.lds_bytes + kGuardBytes, kLineBytes); }

/// Fills the scalar registers that the descriptor asks for, in its order; returns nothing that is not in the wave.
void set_scalars(Wave& wave, const LaunchContext& launch, const std::array<u32, 3>& id) {
  const KernelDescriptor& descriptor = launch.request->kernel->descriptor;
  u32 next = 0;
  const auto put_pair = [&](bool wanted, u64 value) {
    if (wanted) wave.set_pair(scalar_offset(next), value), next += 2;
  };
  if (descriptor.private_segment_buffer) next += 4;
  put_pair(descriptor.dispatch_pointer, reinterpret_cast<u64>(launch.dispatch_packet));
  put_pair(descriptor.queue_pointer, 0);
  put_pair(descriptor.kernarg_pointer, reinterpret_cast<u64>(launch.kernarg));
  put_pair(descriptor.dispatch_id, 0);
  put_pair(descriptor.flat_scratch_init, 0);
  if (descriptor.private_segment_size) wave.word(scalar_offset(next++)) = wave.scratch_lane_bytes;
  for (u32 i = 0; i < descriptor.preload_words; ++i) {
    std::memcpy(wave.registers + scalar_offset(next++), launch.kernarg + 4 * u64{descriptor.preload_offset + i}, 4);
  }
  next = descriptor.user_sgprs;
  for (u32 i = 0; i < 3; ++i) {
    if (descriptor.workgroup_id[i]) wave.word(scalar_offset(next++)) = id[i];
  }
  if (descriptor.workgroup_info) wave.word(scalar_offset(next++)) = launch.waves;
}

/// VGPR0 holds the packed work-item id; EXEC the lanes that exist.
void set_lanes(Wave& wave, const LaunchRequest& request) {
  const u32 items = request.work_items();
  const u32 first = wave.number * kLanes;
  const u32 present = items - first < kLanes ? items - first : kLanes;
  wave.set_pair(scalar_offset(kExecWord), present == kLanes ? ~u64{0} : (u64{1} << present) - 1);
  u32* const ids = wave.row(row_offset(0));
  const u32 dimensions = request.kernel->descriptor.work_item_dimensions;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 item = first + lane;
    const u32 x = item % request.block[0];
    const u32 y = item / request.block[0] % request.block[1];
    const u32 z = item / request.block[0] / request.block[1];
    ids[lane] = x | (dimensions > 1 ? y << 10 : 0) | (dimensions > 2 ? z << 20 : 0);
  }
}

}  // namespace

u64 LaunchContext::block_bytes() const {
  return round_up(waves * sizeof(Wave), kLineBytes) + waves * (register_bytes + scratch_bytes) + lds_room(*this);
}

BlockArena::~BlockArena() {
  if (memory_ != nullptr) munmap(memory_, mapped_);
}

void BlockArena::prepare(u64 block_bytes, u64 count) {
  block_bytes_ = block_bytes;
  fresh_ = 0;
  free_.clear();
  const u64 needed = round_up(block_bytes * count, kHugePage);
  if (needed <= mapped_) return;
  if (memory_ != nullptr) munmap(memory_, mapped_);
  memory_ = nullptr;
  mapped_ = 0;
  void* const memory =
      mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Failure(FailureKind::kOutOfMemory, fmt::format("{} bytes of address space for register files", needed));
  madvise(memory, needed, MADV_HUGEPAGE);
  memory_ = static_cast<u8*>(memory);
  mapped_ = needed;
}

u8* BlockArena::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return memory_ + block_bytes_ * fresh_++;
  u8* const block = free_.back();
  free_.pop_back();
  return block;
}

void BlockArena::give_back(u8* block) {
  const std::lock_guard lock(mutex_);
  free_.push_back(block);
}

void start_workgroup(Workgroup& group, const LaunchContext& launch, u8* block) {
  group.block = block;
  group.ended = 0;
  Wave* const waves = reinterpret_cast<Wave*>(block);
  u8* next = block + round_up(launch.waves * sizeof(Wave), kLineBytes);
  u8* const lds = next + launch.waves * (launch.register_bytes + launch.scratch_bytes);
  const MicroOp* const entry = launch.program->at_address(launch.request->kernel->entry);
  for (u32 i = 0; i < launch.waves; ++i) {
    Wave& wave = *new (waves + i) Wave;
    wave.registers = next;
    next += launch.register_bytes;
    wave.scratch = next;
    next += launch.scratch_bytes;
    wave.scratch_lane_bytes = static_cast<u32>(launch.scratch_bytes / kLanes);
    wave.lds = lds;
    wave.lds_bytes = static_cast<u32>(launch.lds_bytes);
    wave.number = i;
    wave.group = &group;
    wave.program = launch.program;
    wave.resume = wave.segment = entry;
    std::memset(wave.registers, 0, kFirstRowByte);
    const auto& constants = launch.program->constants;
    std::ranges::copy(constants, &wave.word(launch.program->constants_offset()));
    set_scalars(wave, launch, group.id);
    set_lanes(wave, *launch.request);
    set_mode(wave, launch.request->kernel->descriptor.mode);
  }
  group.waves = {waves, launch.waves};
}

void spoil_lds(const Workgroup& group, u64 seed) {
  const Wave& wave = group.waves.front();
  Random random(mix_seed(seed, group.number));
  u32 pattern[16];
  for (u32& word : pattern) word = random.next();
  for (u32 at = 0; at < wave.lds_bytes; at += sizeof pattern) {
    std::memcpy(wave.lds + at, pattern, std::min<u64>(sizeof pattern, wave.lds_bytes - at));
  }
}

}  // namespace monojit::emulator
