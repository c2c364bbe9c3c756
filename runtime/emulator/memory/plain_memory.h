// Coherent host memory as a memory model: for launches that something else wants to watch.
#pragma once

#include "runtime/emulator/memory/memory_model.h"

namespace monojit::emulator {

class PlainMemory final : public MemoryModel {
 public:
  [[nodiscard]] bool skips_unwritten(u32) const override { return true; }

  void begin_launch(u32) override {}
  void end_launch(u32) override {}
  bool end_round(bool) override { return false; }
  void start_wave(Wave& wave, const WavePlace& place) override;
  void end_wave(Wave& wave) override { abandon_wave(wave); }
  void abandon_wave(Wave& wave) override;
  bool advance(Wave&) override { return true; }
  void ran(Wave&, const Executed&) override {}

  bool load(Wave& wave, std::unique_ptr<MemoryRequest>& request) override;
  bool store(Wave& wave, std::unique_ptr<MemoryRequest>& request) override;
  [[nodiscard]] u8* atomic_place(Wave& wave, const MemoryRequest& request, u32 lane) override;
  bool finish_atomics(Wave&, const MemoryRequest&) override { return false; }
  void scalar_load(Wave& wave, const MicroOp* op, u64 address, u32 bytes, void* result) override;

  bool wait(Wave&, const MicroOp*, WaitCounts) override { return false; }
  void invalidate(Wave&, CachePolicy) override {}
  void write_back(Wave&, CachePolicy) override {}
  void invalidate_scalar(Wave&) override {}
  void barrier(Wave&, const MicroOp*) override {}
};

}  // namespace monojit::emulator
