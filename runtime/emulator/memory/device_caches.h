// The caches of one emulated device, and how an access of a compute unit goes through them.
//
// A compute unit has a vector L1 and a scalar cache, both written through; an XCD has an L2 that keeps dirty lines of
// coarse-grained memory. Wave- and workgroup-scope accesses may end in any of them. Device- and system-scope accesses
// pass: loads find memory as it is (after this L2's own dirty bytes went there), stores reach it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/emulator/memory/allocations.h"
#include "runtime/emulator/memory/cache.h"
#include "runtime/emulator/memory/memory_request.h"
#include "runtime/emulator/memory/random.h"

namespace monojit::emulator {

/// How much of its freedom the memory takes, as chances out of 256. Drawn anew for each launch.
struct Freedom {
  u32 late_load = 0;    ///< a load is bound only when it is waited for, or some time before
  u32 late_store = 0;   ///< a store stays in its wave's queue at first
  u32 drain = 0;        ///< one entry of a queue goes, at each access and visit of its wave
  u32 preempt = 0;      ///< a wave lets others run after an access
  u32 evict_clean = 0;  ///< a line that is hit has just been evicted
  u32 evict_dirty = 0;  ///< a line that is written goes to memory at once
  u32 keep_stale = 0;   ///< a device-scope load leaves an old line in the caches that it passes
};

struct UnitCaches {
  UnitCaches();
  ReadCache vector;
  ReadCache scalar;
};

/// Whether an access goes by the caches.
[[nodiscard]] inline bool passes_caches(CachePolicy policy) { return policy.scope >= Scope::kDevice; }

class XcdCaches {
 public:
  explicit XcdCaches(u32 compute_units);

  /// Held during an access; one for all compute units of the XCD.
  std::mutex mutex;

  /// `bytes` (at most 16) inside one line, for vector loads of compute unit `cu` that pass the caches.
  void load_past(u32 cu, const Spot& spot, u32 bytes, const Freedom& freedom, Random& random, u8* result);
  /// For the others: the line in the unit's vector cache, fetched if need be. Valid until the next access.
  [[nodiscard]] const u8* vector_line(u32 cu, const Spot& spot, const Freedom& freedom, Random& random);
  void store(u32 cu, const Spot& spot, u32 bytes, CachePolicy policy, const Freedom& freedom, Random& random,
             const u8* data);
  void load_scalar(u32 cu, const Spot& spot, u32 bytes, const Freedom& freedom, Random& random, u8* result);
  /// Makes memory the only place of a line as far as this compute unit and this L2 are concerned.
  void pass_to_memory(u32 cu, const Spot& spot);

  void invalidate(u32 cu);  ///< the unit's vector cache and the L2's clean bytes
  void invalidate_scalar(u32 cu) { units_[cu].scalar.invalidate(); }
  void invalidate_all();
  void write_back() { l2_.write_back_all(); }

 private:
  const u8* line_data(const Spot& spot, const Freedom& freedom, Random& random, u8* buffer);

  std::vector<UnitCaches> units_;
  WriteBackCache l2_;
};

}  // namespace monojit::emulator
