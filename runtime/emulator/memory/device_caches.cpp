#include "runtime/emulator/memory/device_caches.h"

#include <bit>

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

XcdCaches::XcdCaches(u32 compute_units, DeviceLevel& level)
    : units_(compute_units), level_(level), l2_(kL2Lines, &level) {}

/// A whole line as the L2 sees it; `buffer` holds it where the L2 does not keep such memory.
const u8* XcdCaches::line_data(const Spot& spot, const Freedom& freedom, Random& random, u8* buffer) {
  const bool refetch = random.chance(freedom.evict_clean);
  if (spot.kind == MemoryKind::kCoarseGrained) return l2_.fetch(spot, refetch).data;
  level_.read_line(spot, refetch, buffer);
  return buffer;
}

void XcdCaches::load_past(u32 cu, const Spot& spot, u32 bytes, CachePolicy policy, const Freedom& freedom,
                          Random& random, u8* result) {
  if (CacheLine* const there = l2_.find(spot); there != nullptr && there->dirty != 0) l2_.write_back(*there);
  if (!random.chance(freedom.keep_stale)) {
    units_[cu].vector.drop(spot);
    l2_.flush(spot);
  }
  level_.load(spot, bytes, policy, freedom, random, result);
}

const u8* XcdCaches::vector_line(u32 cu, const Spot& spot, const Freedom& freedom, Random& random) {
  ReadCache& l1 = units_[cu].vector;
  const u64 line = spot.line();
  CacheLine& there = l1.place(spot);
  if (!l1.holds(there, line) || random.chance(freedom.evict_clean)) {
    alignas(64) u8 buffer[kLineBytes];
    std::memcpy(there.data, line_data(spot, freedom, random, buffer), kLineBytes);
    l1.set(there, line);
  }
  return there.data;
}

void XcdCaches::store(u32 cu, const Spot& spot, u32 bytes, CachePolicy policy, const Freedom& freedom, Random& random,
                      const u8* data) {
  units_[cu].vector.update(spot, data, bytes);
  if (passes_caches(policy) || spot.kind != MemoryKind::kCoarseGrained) {
    l2_.overwrite(spot, data, bytes);
    level_.store(spot, bytes, policy, freedom, random, data);
    return;
  }
  CacheLine& there = l2_.write(spot, data, bytes);
  if (random.chance(freedom.evict_dirty)) l2_.write_back(there);
}

void XcdCaches::load_scalar(u32 cu, const Spot& spot, u32 bytes, const Freedom& freedom, Random& random, u8* result) {
  ReadCache& cache = units_[cu].scalar;
  const u64 line = spot.line();
  CacheLine& there = cache.place(spot);
  if (!cache.holds(there, line) || random.chance(freedom.evict_clean)) {
    alignas(64) u8 buffer[kLineBytes];
    std::memcpy(there.data, line_data(spot, freedom, random, buffer), kLineBytes);
    cache.set(there, line);
  }
  std::memcpy(result, there.data + spot.offset(), bytes);
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
