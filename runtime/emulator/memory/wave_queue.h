// What a wave has on its way to memory, and where the wave stands on the chip.
#pragma once

#include <memory>
#include <vector>

#include "runtime/emulator/memory/device_caches.h"
#include "runtime/emulator/memory/memory_model.h"
#include "runtime/emulator/memory/poll_watch.h"
#include "runtime/emulator/memory/random.h"

namespace monojit::emulator {

enum class PendingKind : u8 { kLoad, kStore, kWriteBack };

struct PendingOperation {
  PendingKind kind;
  u64 number;                              ///< in the order of issue, from 1
  u64 lines;                               ///< of the request, as a set of hashes: no common bit means no common line
  std::unique_ptr<MemoryRequest> request;  ///< none for a write-back
  Scope scope = Scope::kWave;              ///< of a write-back
  bool done = false;                       ///< a load that is done waits here until earlier ones are
};

class WaveQueue : public WaveMemoryState {
 public:
  WaveQueue(Wave& wave, XcdCaches& xcd, const WavePlace& place, const Freedom& freedom, const LineVersions& versions,
            u64 serial, u64 seed)
      : random(seed), wave_(wave), xcd_(xcd), place_(place), freedom_(freedom), versions_(versions), serial_(serial) {}

  Random random;
  PollWatch polls;
  u64 executed = 0;  ///< vector memory instructions since the wave slept

  /// Counts up from wave to wave.
  [[nodiscard]] u64 serial() const { return serial_; }
  [[nodiscard]] XcdCaches& xcd() { return xcd_; }
  [[nodiscard]] u32 cu() const { return place_.cu; }
  /// Makes the wave's worker look at the memory of the wave's device.
  void enter();
  [[nodiscard]] const Freedom& freedom() const { return freedom_; }
  [[nodiscard]] bool empty() const { return pending_.empty(); }
  [[nodiscard]] bool has_stores() const;

  void push(PendingKind kind, std::unique_ptr<MemoryRequest> request);
  void push_write_back(Scope scope);
  /// An operation that goes at once: pending ones of the same lines go before it.
  void count_immediate(const MemoryRequest& request);
  /// The latest operation goes at once, as far as others of the same lines are concerned.
  void hurry_latest();
  /// Loads before an atomic operation whose result takes the place of theirs: it is delivered after them.
  void deliver_before_result(const MemoryRequest& atomic);
  /// All but the `left` latest operations are done.
  void wait_for(u64 left);
  void drain_all() { wait_for(0); }
  /// One operation that may go now, at random.
  void drain_one();

  /// The place at an address of the wave's device memory.
  [[nodiscard]] Spot spot_at(u64 address);
  /// Finds the data of a load, without delivering them.
  void fetch(MemoryRequest& request);
  void store(const MemoryRequest& request);

 private:
  /// A load that goes through whole lines, each looked up once.
  void fetch_sweep(MemoryRequest& request);
  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock_passed(CachePolicy policy);
  [[nodiscard]] const u8* find_line(const Spot& spot, CachePolicy policy, LineData& buffer);
  [[nodiscard]] u64 lines_of(const MemoryRequest& request);
  [[nodiscard]] bool may_go(std::size_t index) const;
  void perform(std::size_t index);
  /// Performs all before `end` that `chosen` chooses, and what these must follow; delivers and forgets what is done.
  template <class Chosen>
  void perform_those(std::size_t end, Chosen chosen);
  void deliver_done();

  Wave& wave_;
  XcdCaches& xcd_;
  WavePlace place_;
  const Freedom& freedom_;
  const LineVersions& versions_;
  u64 serial_;
  std::vector<PendingOperation> pending_;  ///< in the order of issue
};

}  // namespace monojit::emulator
