// The state of one wave, and what its handlers share: the worker that runs it, its workgroup, its program.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/emulator/execute/micro_op.h"
#include "runtime/emulator/execute/register_file.h"
#include "runtime/emulator/execute/work_counts.h"
#include "runtime/emulator/memory/allocations.h"
#include "runtime/emulator/memory/memory_request.h"
#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator {

struct Program;
struct Workgroup;
class Allocations;
class MemoryModel;
class SegmentProfile;
class WaveChecks;
struct RaceWave;

enum class WaveState : u8 {
  kReady,
  kSleeping,   ///< s_sleep
  kYielded,    ///< its budget of this visit is used up
  kPreempted,  ///< a memory model lets others run
  kAtBarrier,
  kEnded,
};

inline constexpr u32 kStagingRows = 8;

/// One host thread that executes waves. Everything here is its own, so counting needs no atomics. The WorkCounts are
/// those of its present visit.
struct Worker : WorkCounts {
  alignas(64) u32 staging[kStagingRows][kLanes];  ///< results under a partial EXEC, lane addresses, expanded masks
  u64 memory_writes = 0;  ///< stores and atomics that changed memory: a round without any is idle
  u64 clock_reads = 0;
  bool strict_alignment = false;      ///< unaligned loads and stores of LDS, global memory and scratch fault
  std::atomic<u64>* clock = nullptr;  ///< virtual time in ticks of 10 ns
  const Allocations* allocations = nullptr;
  std::shared_ptr<const AllocationList> list;
  Allocation last_hit;
  MemorySpace space = MemorySpace::kUncounted;  ///< of last_hit
  u32 device = 0;                               ///< of the workgroup that it visits
  MemoryModel* model = nullptr;                 ///< of observed programs
  std::unique_ptr<MemoryRequest> request;       ///< the instruction that is being observed
  std::vector<std::unique_ptr<MemoryRequest>> spare_requests;
  bool skips_unwritten = false;        ///< MemoryModel::skips_unwritten()
  SegmentProfile* segments = nullptr;  ///< of a profiled launch, while it is visited

  /// The counts of a visit are its own; what is remembered about memory is the device's.
  void begin_visit(u32 visited) {
    static_cast<WorkCounts&>(*this) = {};
    if (visited != device) last_hit = {}, device = visited;
  }
  /// True if all of [first, last) is live memory. Remembers where, so that the next look is two comparisons.
  [[nodiscard, gnu::always_inline]] bool reachable(u64 first, u64 last) {
    return last_hit.holds(first, last) || search(first, last);
  }
  /// Remembers that kernels write to the allocations of these addresses: loads must no longer skip a memory model.
  void mark_written(const MemoryRequest& writing);

 private:
  bool search(u64 first, u64 last);
};

struct alignas(64) Wave {
  u8* registers = nullptr;
  Worker* worker = nullptr;
  const MicroOp* resume = nullptr;   ///< where to go on after a yield; during a fault, the micro-op that faulted
  const MicroOp* segment = nullptr;  ///< first micro-op not counted yet
  const Program* program = nullptr;
  u8* lds = nullptr;
  u32 lds_bytes = 0;
  u32 scratch_lane_bytes = 0;
  u8* scratch = nullptr;       ///< private memory, lane after lane
  i32 budget = 0;              ///< micro-ops left in backward branches before the wave must yield
  u32 mode = 0;                ///< the MODE register
  u32 host_mode32 = 0;         ///< MODE's f32 rounding and denormals as the host's MXCSR; in force while the wave runs
  u32 host_mode64 = 0;         ///< the same for f64
  u32 host_mode16 = 0;         ///< rounding of f64 and Half, no denormals flushed: Half is computed in f32
  bool plain_mode = true;      ///< rounding, denormals, NaN and overflow as compilers leave them
  u32 trap_status = 0;         ///< the TRAPSTS register: kept, never set by the emulator
  u32 number = 0;              ///< in its workgroup
  u32 clock_reads = 0;         ///< during its latest visit
  bool watches_clock = false;  ///< read it again and again during its latest visit
  u64 digest = 0;              ///< of its registers, the last time that the scheduler looked for a fixed point
  u64 last_load = 0;           ///< lowest address of the latest load or atomic: what a waiting wave looks at
  WaveState state = WaveState::kReady;
  Workgroup* group = nullptr;
  void* memory_state = nullptr;  ///< the memory model's
  WaveChecks* checks = nullptr;  ///< of checked programs
  RaceWave* races = nullptr;     ///< the race detector's

  [[nodiscard, gnu::always_inline]] u32& word(u32 offset) { return *reinterpret_cast<u32*>(registers + offset); }
  [[nodiscard, gnu::always_inline]] u32* row(u32 offset) {
    return reinterpret_cast<u32*>(__builtin_assume_aligned(registers + offset, kRowAlignment));
  }
  [[nodiscard, gnu::always_inline]] u64 pair(u32 offset) const {
    u64 value;
    std::memcpy(&value, registers + offset, sizeof value);
    return value;
  }
  [[gnu::always_inline]] void set_pair(u32 offset, u64 value) { std::memcpy(registers + offset, &value, sizeof value); }
  [[nodiscard, gnu::always_inline]] u32& scc() { return word(scalar_offset(kSccWord)); }
  [[nodiscard, gnu::always_inline]] u64 exec() const { return pair(scalar_offset(kExecWord)); }
};

// MODE fields.
inline constexpr u32 kModeRound32 = 0x3;
inline constexpr u32 kModeRound64Shift = 2;
inline constexpr u32 kModeDenormal32Shift = 4;
inline constexpr u32 kModeDenormal64Shift = 6;
inline constexpr u32 kModeDx10ClampBit = 1u << 8;
inline constexpr u32 kModeIeeeBit = 1u << 9;
inline constexpr u32 kModeFp16OverflowBit = 1u << 23;
inline constexpr u32 kModeIndexBit = 1u << 27;  ///< VGPR indexing by M0
inline constexpr u32 kModeSkipBit = 1u << 28;   ///< vector instructions are skipped
inline constexpr u32 kModeStackShift = 29;      ///< depth of s_cbranch_*_fork, three bits

}  // namespace monojit::emulator
