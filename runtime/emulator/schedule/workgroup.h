// A workgroup and the memory that its waves live in.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/emulator/execute/wave.h"
#include "runtime/emulator/schedule/launch.h"
#include "runtime/emulator/schedule/placement.h"

namespace monojit::emulator {

/// What every workgroup of a launch has in common.
struct LaunchContext {
  const LaunchRequest* request = nullptr;
  const Program* program = nullptr;
  const u8* kernarg = nullptr;  ///< in emulated memory
  const u8* dispatch_packet = nullptr;
  u32 waves = 0;
  u64 register_bytes = 0;  ///< a wave
  u64 scratch_bytes = 0;   ///< a wave
  u64 lds_bytes = 0;       ///< a workgroup

  [[nodiscard]] u64 block_bytes() const;
};

struct Workgroup {
  std::array<u32, 3> id{};
  u64 number = 0;
  u32 device = 0;
  u32 xcd = 0;
  u32 cu = 0;  ///< in its XCD
  WavesOnSimds on_simds{};
  u8* block = nullptr;  ///< null until its first visit
  u32 ended = 0;
  bool stalled = false;  ///< by the settings: it never runs
  std::span<Wave> waves;
  std::vector<std::shared_ptr<WaveChecks>> checks;  ///< one a wave, in checked launches

  [[nodiscard]] bool started() const { return block != nullptr; }
  [[nodiscard]] bool done() const { return started() && ended == waves.size(); }
};

/// Register files, LDS and scratch for one workgroup each. Blocks are handed out again in the order last in, first out:
/// the next workgroup finds the one before in the host's caches. The mapping stays between launches.
class BlockArena {
 public:
  BlockArena() = default;
  ~BlockArena();
  BlockArena(const BlockArena&) = delete;
  BlockArena& operator=(const BlockArena&) = delete;

  /// Room for `count` blocks; all earlier ones are void. Throws Failure (kOutOfMemory).
  void prepare(u64 block_bytes, u64 count);
  [[nodiscard]] u8* take();
  void give_back(u8* block);

 private:
  std::mutex mutex_;
  u8* memory_ = nullptr;
  u64 mapped_ = 0;
  u64 block_bytes_ = 0;
  u64 fresh_ = 0;  ///< blocks never handed out since prepare()
  std::vector<u8*> free_;
};

/// Lays out waves, register files, LDS and scratch in the block and sets the registers that a wave starts with.
void start_workgroup(Workgroup& group, const LaunchContext& launch, u8* block);
/// Fills a workgroup's LDS with numbers that depend on the seed: a chip clears it for nobody.
void spoil_lds(const Workgroup& group, u64 seed);

}  // namespace monojit::emulator
