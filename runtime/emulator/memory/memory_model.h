// What memory does with the accesses of waves, when a launch does not simply run on coherent host memory.
//
// Handlers of observed programs (Lowering) check addresses as always and then hand over here instead of touching
// memory. LDS and scratch are not a model's business: they are in order and private to a workgroup or a lane.
#pragma once

#include <memory>

#include "runtime/emulator/execute/wait_counts.h"
#include "runtime/emulator/memory/memory_request.h"

namespace monojit::emulator {

/// What Wave::memory_state points to: a model keeps more behind it.
struct WaveMemoryState {
  u64 issued = 0;       ///< operations that vmcnt counts; handlers count the loads that skip the model
  u32 undelivered = 0;  ///< loads whose results are still to come: later ones must not overtake them
};

/// Where a wave runs.
struct WavePlace {
  u32 device = 0;
  u32 xcd = 0;
  u32 cu = 0;        ///< in its XCD
  u64 identity = 0;  ///< another for each wave of its launch
};

/// What a wave did since it was visited last, or before it waited.
struct Executed {
  u64 vector_memory = 0;  ///< instructions
  bool others = false;    ///< instructions that may have found something new elsewhere: in LDS, by scalar loads
};

class MemoryModel {
 public:
  MemoryModel() = default;
  virtual ~MemoryModel() = default;
  MemoryModel(const MemoryModel&) = delete;
  MemoryModel& operator=(const MemoryModel&) = delete;

  /// Whether loads from Allocation::skippable() memory by kernels of `device` may skip load().
  [[nodiscard]] virtual bool skips_unwritten(u32 device) const = 0;

  // Launches: a device's kernel starts, and has ended or been given up.
  virtual void begin_launch(u32 device) = 0;
  virtual void end_launch(u32 device) = 0;
  /// Between two rounds of the scheduler, while no wave runs. `idle`: nothing happened in the last one. True: memory
  /// has changed on its own since.
  virtual bool end_round(bool idle) = 0;

  // Waves. A wave's operations come from one host thread at a time; different waves' from several.
  virtual void start_wave(Wave& wave, const WavePlace& place) = 0;
  virtual void end_wave(Wave& wave) = 0;
  virtual void abandon_wave(Wave& wave) = 0;  ///< one that will never end, as its launch was given up
  /// Between visits of a wave, whatever it waits for: what it has on its way may go on. False: it sleeps, and would
  /// only look in vain at what it waits for.
  virtual bool advance(Wave& wave) = 0;
  /// The wave has run.
  virtual void ran(Wave& wave, const Executed& executed) = 0;

  // Vector memory. The request is the worker's own (Worker::request); a model that needs it for longer takes it and
  // puts another in its place. A load finds its data at any time up to the wait for it, and delivers them in the order
  // of issue: compilers rely on it where a load overwrites what an earlier one was to bring. True: the wave should let
  // others run.
  virtual bool load(Wave& wave, std::unique_ptr<MemoryRequest>& request) = 0;
  virtual bool store(Wave& wave, std::unique_ptr<MemoryRequest>& request) = 0;
  /// Where a lane's atomic operation executes: host memory, with what earlier operations of the wave must have done to
  /// it. finish_atomics() follows when all lanes are done.
  [[nodiscard]] virtual u8* atomic_place(Wave& wave, const MemoryRequest& request, u32 lane) = 0;
  virtual bool finish_atomics(Wave& wave, const MemoryRequest& request) = 0;

  /// Scalar loads: `bytes` from `address` to `result`, at once.
  virtual void scalar_load(Wave& wave, const MicroOp* op, u64 address, u32 bytes, void* result) = 0;

  // Waits and cache maintenance.
  virtual bool wait(Wave& wave, const MicroOp* op, WaitCounts counts) = 0;
  virtual void invalidate(Wave& wave, CachePolicy policy) = 0;  ///< buffer_inv
  virtual void write_back(Wave& wave, CachePolicy policy) = 0;  ///< buffer_wbl2
  virtual void invalidate_scalar(Wave& wave) = 0;               ///< s_dcache_inv
  virtual void barrier(Wave& wave, const MicroOp* op) = 0;      ///< the wave arrives at s_barrier
};

}  // namespace monojit::emulator
