#include "runtime/emulator/memory/device_caches.h"

#include <bit>

#include "runtime/emulator/memory/line_versions.h"

namespace monojit::emulator {
namespace {

// A quarter to an eighth of the chips' sizes: old lines live shorter than there, which a chip may do as well, and the
// tables of eight devices stay small.
constexpr u32 kVectorLines = 64;
constexpr u32 kScalarLines = 32;
constexpr u32 kL2Lines = 4096;
static_assert(std::has_single_bit(kVectorLines) && std::has_single_bit(kScalarLines) && std::has_single_bit(kL2Lines));

}  // namespace

UnitCaches::UnitCaches() : vector(kVectorLines), scalar(kScalarLines) {}

XcdCaches::XcdCaches(u32 compute_units, DeviceLevel& level, LineVersions& versions)
    : units_(compute_units), level_(level), versions_(versions), l2_(kL2Lines, versions, &level) {}

/// A whole line as the L2 sees it; `buffer` holds it where the L2 does not keep such memory.
const u8* XcdCaches::line_data(const Spot& spot, const Freedom& freedom, Random& random, u8* buffer) {
  const bool refetch = random.chance(freedom.evict_clean);
  if (spot.kind == MemoryKind::kCoarseGrained) return l2_.fetch(spot, refetch);
  level_.read_line(spot, refetch, buffer);
  return buffer;
}

const u8* XcdCaches::line_past(u32 cu, const Spot& spot, CachePolicy policy, const Freedom& freedom, Random& random,
                               LineData& buffer) {
  l2_.write_back(spot);
  if (!random.chance(freedom.keep_stale)) {
    units_[cu].vector.drop(spot);
    l2_.flush(spot);
  }
  return level_.find_line(spot, policy, freedom, random, buffer);
}

const u8* XcdCaches::fetch_line(ReadCache& cache, const Spot& spot, const Freedom& freedom, Random& random) {
  LineData buffer;
  const u8* const line = line_data(spot, freedom, random, buffer.bytes);
  u8* const place = cache.claim(spot);
  std::memcpy(place, line, kLineBytes);
  return place;
}

void XcdCaches::store(u32 cu, const Spot& spot, const LineData& data, ByteMask mask, CachePolicy policy,
                      const Freedom& freedom, Random& random) {
  units_[cu].vector.update(spot, data, mask);
  if (passes_caches(policy) || spot.kind != MemoryKind::kCoarseGrained) {
    l2_.overwrite(spot, data, mask);
    level_.store(spot, data, mask, policy, freedom, random);
    return versions_.changed(spot.line_number);
  }
  l2_.write(spot, data, mask);
  if (random.chance(freedom.evict_dirty)) l2_.write_back(spot);
}

void XcdCaches::pass_to_memory(u32 cu, const Spot& spot) {
  units_[cu].vector.drop(spot);
  l2_.flush(spot);
  level_.pass_to_memory(spot);
}

void XcdCaches::invalidate(u32 cu, Scope scope) {
  units_[cu].vector.invalidate();
  l2_.invalidate();
  if (scope == Scope::kSystem) level_.invalidate();
}

bool XcdCaches::write_back(Scope scope) {
  const bool any = l2_.write_back_all();
  return scope == Scope::kSystem && level_.write_back() ? true : any;
}

void XcdCaches::invalidate_all() {
  for (UnitCaches& unit : units_) {
    unit.vector.invalidate();
    unit.scalar.invalidate();
  }
  l2_.invalidate();
}

}  // namespace monojit::emulator
