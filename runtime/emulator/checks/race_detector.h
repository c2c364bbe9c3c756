// Finds conflicting accesses that nothing orders: one of them writes, they come from different waves, at least one is
// not wide enough in scope to be an atomic one, and no chain of hand-offs leads from the one to the other.
//
// A hand-off at the level of instructions is, on the giving side: the accesses have been waited for (s_waitcnt vmcnt),
// plain stores have been written back (buffer_wbl2) if the taker is on another XCD or device, and then a store or
// atomic with a scope that reaches the taker; on the taking side: a load or atomic of the same word with such a scope,
// and then, before plain loads, buffer_inv. s_barrier is one for the waves of a workgroup. So a missing wait, fence or
// scope bit is a race even where this run's data came out right.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/emulator/checks/access_history.h"
#include "runtime/emulator/checks/instruction_facts.h"
#include "runtime/emulator/checks/race_wave.h"
#include "runtime/emulator/execute/fault.h"

namespace monojit::emulator {

class RaceDetector {
 public:
  RaceDetector();
  ~RaceDetector();

  void begin_launch(u32 device);
  void end_launch(u32 device);
  void start_wave(Wave& wave, const WavePlace& place);
  void end_wave(Wave& wave);

  /// The accesses of a memory operation. Throw WaveFault (kCheckFailed) naming both accesses of a race.
  void load(Wave& wave, const MemoryRequest& request);
  void store(Wave& wave, const MemoryRequest& request);
  void atomic(Wave& wave, const MemoryRequest& request);
  /// An LDS instruction that is about to run.
  void lds_access(Wave& wave, const MicroOp* op, const LdsFacts& facts);

  void wait(Wave& wave, WaitCounts counts);
  void invalidate(Wave& wave, CachePolicy policy);
  void write_back(Wave& wave, CachePolicy policy);
  void barrier(Wave& wave);

 private:
  struct HandOff {
    ScopedClocks clocks;
    u32 wave = 0;
    Scope scope = Scope::kWave;
  };
  /// One lane's access to one word, about to happen.
  struct Access {
    PastAccess past;
    u64 address = 0;
    bool lds = false;
  };

  RaceGroup* add_group(const WavePlace& place);
  [[nodiscard]] static Scope distance(const RaceWave& one, const RaceWave& other);
  [[nodiscard]] bool ordered(const PastAccess& before, const RaceWave& wave, const Access& now) const;
  static const ScopedClocks& published(RaceWave& wave);
  void record(const Wave& wave, const MicroOp* op, WordHistory& word, const Access& access);
  void access_memory(Wave& wave, const MemoryRequest& request, AccessKind kind);
  void give(RaceWave& self, u64 address, Scope scope, bool joins);
  void take(RaceWave& self, u64 address, Scope scope);
  void pass_barrier(RaceWave& self);
  [[noreturn]] void report(const Wave& wave, const MicroOp* op, const PastAccess& before, const Access& now) const;
  [[nodiscard]] std::string describe(const PastAccess& access, bool lds) const;
  RaceWave& self_of(Wave& wave);

  std::mutex mutex_;
  u32 running_launches_ = 0;
  /// What launches of a device have ended, and which of all devices' had when its latest launch began.
  struct DeviceClocks {
    ScopedClocks ended_waves;
    ScopedClocks before;
  };
  std::unordered_map<u32, DeviceClocks> devices_;
  ScopedClocks ended_launches_;
  std::vector<std::unique_ptr<RaceWave>> waves_;
  std::vector<std::unique_ptr<RaceGroup>> groups_;
  std::vector<u32> groups_of_xcd_;  ///< how many there have been, by ClockPlace::xcd
  AccessHistory history_;
  std::unordered_map<u64, HandOff> hand_offs_;  ///< by word address
};

}  // namespace monojit::emulator
