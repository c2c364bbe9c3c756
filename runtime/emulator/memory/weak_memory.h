// The weak memory mode: the chips' freedom to reorder, delay and cache, as LLVM's AMDGPU memory model leaves it to
// gfx942 and gfx950, taken at random from a seed.
//
// A wave's loads and stores may wait in a queue and leave it in another order, as long as accesses to one line keep
// theirs; s_waitcnt empties it. Below are the caches of device_caches.h. docs/emulator.md lists what is modelled.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "runtime/emulator/chip.h"
#include "runtime/emulator/memory/memory_model.h"
#include "runtime/emulator/memory/wave_queue.h"

namespace monojit::emulator {

class WeakMemory final : public MemoryModel {
 public:
  WeakMemory(const ChipLimits& chip, u32 devices, u64 seed, const Allocations& allocations);
  ~WeakMemory() override;

  [[nodiscard]] bool skips_unwritten(u32 device) const override;

  void begin_launch(u32 device) override;
  void end_launch(u32 device) override;
  bool end_round(bool idle) override;
  void start_wave(Wave& wave, const WavePlace& place) override;
  void end_wave(Wave& wave) override;
  void abandon_wave(Wave& wave) override;
  bool advance(Wave& wave) override;
  void ran(Wave& wave, const Executed& executed) override;

  bool load(Wave& wave, std::unique_ptr<MemoryRequest>& request) override;
  bool store(Wave& wave, std::unique_ptr<MemoryRequest>& request) override;
  [[nodiscard]] u8* atomic_place(Wave& wave, const MemoryRequest& request, u32 lane) override;
  bool finish_atomics(Wave& wave, const MemoryRequest& request) override;
  void scalar_load(Wave& wave, const MicroOp* op, u64 address, u32 bytes, void* result) override;

  bool wait(Wave& wave, const MicroOp* op, WaitCounts counts) override;
  void invalidate(Wave& wave, CachePolicy policy) override;
  void write_back(Wave& wave, CachePolicy policy) override;
  void invalidate_scalar(Wave& wave) override;
  void barrier(Wave&, const MicroOp*) override {}

 private:
  struct Device;

  static void keep(WaveQueue& queue, PendingKind kind, Wave& wave, std::unique_ptr<MemoryRequest>& request);
  static void drain_some(WaveQueue& queue);
  bool let_others_run(WaveQueue& queue);

  u64 seed_;
  const Allocations& allocations_;
  LineVersions versions_;
  u64 launches_ = 0;
  std::vector<std::unique_ptr<Device>> devices_;
  std::mutex queues_mutex_;
  u64 waves_ = 0;
  std::map<u64, std::unique_ptr<WaveQueue>> queues_;  ///< of running waves, by serial number
  bool others_write_ = false;                         ///< other processes reach the memory of this one
  bool calm_ = false;                                 ///< the last round was idle: waves are not made to let others run
  bool evicted_ = false;  ///< all caches have been emptied since the last round that was not idle
};

}  // namespace monojit::emulator
