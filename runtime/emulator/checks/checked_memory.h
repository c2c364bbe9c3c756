// A memory model that looks at every access before another model, or plain memory, does what was asked.
#pragma once

#include <memory>

#include "runtime/emulator/checks/checks.h"
#include "runtime/emulator/checks/race_detector.h"
#include "runtime/emulator/memory/memory_model.h"
#include "runtime/emulator/memory/written_bytes.h"

namespace monojit::emulator {

class CheckedMemory final : public MemoryModel {
 public:
  /// `written` is null where loads of unwritten memory are nobody's interest.
  CheckedMemory(std::unique_ptr<MemoryModel> inner, bool races, WrittenBytes* written);
  ~CheckedMemory() override;

  /// Null if races are not looked for.
  [[nodiscard]] RaceDetector* races() { return races_.get(); }

  /// Every load is looked at; one that went past would be missing from vmcnt as well.
  [[nodiscard]] bool skips_unwritten(u32) const override { return false; }

  void begin_launch(u32 device) override;
  void end_launch(u32 device) override;
  bool end_round(bool idle) override { return inner_->end_round(idle); }
  void start_wave(Wave& wave, const WavePlace& place) override;
  void end_wave(Wave& wave) override;
  void abandon_wave(Wave& wave) override { inner_->abandon_wave(wave); }
  bool advance(Wave& wave) override { return inner_->advance(wave); }
  void ran(Wave& wave, const Executed& executed) override { inner_->ran(wave, executed); }

  bool load(Wave& wave, std::unique_ptr<MemoryRequest>& request) override;
  bool store(Wave& wave, std::unique_ptr<MemoryRequest>& request) override;
  [[nodiscard]] u8* atomic_place(Wave& wave, const MemoryRequest& request, u32 lane) override;
  bool finish_atomics(Wave& wave, const MemoryRequest& request) override {
    return inner_->finish_atomics(wave, request);
  }
  void scalar_load(Wave& wave, const MicroOp* op, u64 address, u32 bytes, void* result) override;

  bool wait(Wave& wave, const MicroOp* op, WaitCounts counts) override;
  void invalidate(Wave& wave, CachePolicy policy) override;
  void write_back(Wave& wave, CachePolicy policy) override;
  void invalidate_scalar(Wave& wave) override { inner_->invalidate_scalar(wave); }
  void barrier(Wave& wave, const MicroOp* op) override;

 private:
  void check_written(const Wave& wave, const MemoryRequest& request) const;
  void mark_written(const MemoryRequest& request) const;

  std::unique_ptr<MemoryModel> inner_;
  std::unique_ptr<RaceDetector> races_;
  WrittenBytes* written_;
};

}  // namespace monojit::emulator
