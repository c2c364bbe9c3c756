// The caches of one emulated device, and how an access of a compute unit goes through them.
//
// A compute unit has a vector L1 and a scalar cache, both written through; an XCD has an L2 that keeps dirty lines of
// coarse-grained memory. Wave- and workgroup-scope accesses may end in any of them. Device- and system-scope accesses
// pass: loads find what is below as it is (after this L2's own dirty bytes went there), stores reach it. Below is the
// device's level, which system scope passes too.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/emulator/memory/allocations.h"
#include "runtime/emulator/memory/cache.h"
#include "runtime/emulator/memory/device_level.h"
#include "runtime/emulator/memory/freedom.h"
#include "runtime/emulator/memory/memory_request.h"
#include "runtime/emulator/memory/random.h"

namespace monojit::emulator {

struct UnitCaches {
  UnitCaches();
  ReadCache vector;
  ReadCache scalar;
};

/// Whether an access goes by the caches.
[[nodiscard]] inline bool passes_caches(CachePolicy policy) { return policy.scope >= Scope::kDevice; }

class XcdCaches {
 public:
  XcdCaches(u32 compute_units, DeviceLevel& level, LineVersions& versions);

  /// Held during an access; one for all compute units of the XCD.
  std::mutex mutex;

  /// For many lines of an access that passes the caches.
  [[nodiscard]] auto lock_level() { return level_.lock(); }
  /// For vector loads of compute unit `cu` that pass the caches: where the line stands, in memory or brought to
  /// `buffer`.
  [[nodiscard]] const u8* line_past(u32 cu, const Spot& spot, CachePolicy policy, const Freedom& freedom,
                                    Random& random, LineData& buffer);
  /// For the others: the line in the unit's vector cache, fetched if need be. Valid until the next access.
  [[nodiscard]] const u8* vector_line(u32 cu, const Spot& spot, const Freedom& freedom, Random& random) {
    return cached_line(units_[cu].vector, spot, freedom, random);
  }
  /// Tells the host that a vector_line() will be asked for.
  void prefetch(u32 cu, const Spot& spot) const {
    units_[cu].vector.prefetch(spot);
    l2_.prefetch(spot);
  }
  /// The bytes of a line that `mask` names.
  void store(u32 cu, const Spot& spot, const LineData& data, ByteMask mask, CachePolicy policy, const Freedom& freedom,
             Random& random);
  /// The same for a scalar load.
  [[nodiscard]] const u8* scalar_line(u32 cu, const Spot& spot, const Freedom& freedom, Random& random) {
    return cached_line(units_[cu].scalar, spot, freedom, random);
  }
  /// Makes memory the only place of a line as far as this compute unit, this L2 and the device are concerned.
  void pass_to_memory(u32 cu, const Spot& spot);

  /// The unit's vector cache and the L2's clean bytes; at system scope the device's level too.
  void invalidate(u32 cu, Scope scope);
  void invalidate_scalar(u32 cu) { units_[cu].scalar.invalidate(); }
  void invalidate_all();
  /// To the device's level; at system scope to memory.
  bool write_back(Scope scope);  ///< whether there was anything

 private:
  /// The line in a cache of a unit, fetched if need be.
  const u8* cached_line(ReadCache& cache, const Spot& spot, const Freedom& freedom, Random& random) {
    const u8* const there = cache.find(spot);
    return there != nullptr && !random.chance(freedom.evict_clean) ? there : fetch_line(cache, spot, freedom, random);
  }
  const u8* fetch_line(ReadCache& cache, const Spot& spot, const Freedom& freedom, Random& random);
  const u8* line_data(const Spot& spot, const Freedom& freedom, Random& random, u8* buffer);

  std::vector<UnitCaches> units_;
  DeviceLevel& level_;
  LineVersions& versions_;
  WriteBackCache l2_;
};

}  // namespace monojit::emulator
