#include "runtime/emulator/memory/allocations.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/emulator/failure.h"
#include "runtime/emulator/memory/shared_memory.h"

namespace monojit::emulator {
namespace {

constexpr std::size_t kFreedKept = 256;
constexpr u64 kFreedBytesKept = u64{8} << 40;  // of addresses, a sixteenth of a process's
constexpr u64 kMostBytes = u64{1} << 47;
constexpr u64 kHugePage = u64{2} << 20;

u64 page_bytes() {
  static const u64 bytes = static_cast<u64>(sysconf(_SC_PAGESIZE));
  return bytes;
}

u64 round_up(u64 value, u64 unit) { return (value + unit - 1) / unit * unit; }

void unmap(const Allocation& range) {
  if (!range.adopted()) munmap(reinterpret_cast<void*>(range.begin), range.mapped_bytes);
}

/// Gives the pages back and keeps the addresses, if the host lets it.
void close_off(Allocation& range) {
  if (range.adopted()) return;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  void* const memory = reinterpret_cast<void*>(range.begin);
  if (mmap(memory, range.mapped_bytes, PROT_NONE, kFlags, -1, 0) != MAP_FAILED) return;
  unmap(range);
  range.mapped_bytes = 0;
}

/// Drops the oldest while they are too many.
void limit_freed(std::vector<Allocation>& freed) {
  u64 bytes = 0;
  for (const Allocation& range : freed) bytes += range.mapped_bytes;
  while (freed.size() > kFreedKept || bytes > kFreedBytesKept) {
    bytes -= freed.front().mapped_bytes;
    unmap(freed.front());
    freed.erase(freed.begin());
  }
}

}  // namespace

const Allocation* AllocationList::find(u64 first, u64 last) const {
  const auto after = std::upper_bound(live.begin(), live.end(), first,
                                      [](u64 address, const Allocation& range) { return address < range.begin; });
  if (after == live.begin()) return nullptr;
  const Allocation& candidate = *std::prev(after);
  return candidate.holds(first, last) ? &candidate : nullptr;
}

bool AllocationList::accessible(const Allocation& memory, u32 device) const {
  if (memory.device == device || memory.host) return true;
  return device < peers.size() && (peers[device] >> memory.device & 1) != 0;
}

u64 AllocationList::first_forbidden(u64 first, u64 last) const {
  u64 found = 0;
  const auto look = [&](u64 begin, u64 end) {
    if (begin < last && first < end && (found == 0 || begin < found)) found = std::max(begin, first);
  };
  for (const Allocation& range : freed) {
    if (!range.adopted()) look(range.begin, range.begin + range.mapped_bytes);
  }
  for (const Allocation& range : live) {
    if (!range.adopted()) look(range.end, range.begin + range.mapped_bytes);
  }
  return found;
}

std::string AllocationList::describe(u64 address) const {
  if (address < page_bytes())
    return address == 0 ? "a null pointer" : fmt::format("{} bytes behind a null pointer", address);
  const auto text = [](const Allocation& range) {
    return fmt::format("{} {} ({:#x}, {} bytes)",
                       range.code        ? "code object"
                       : range.arguments ? "kernel arguments"
                       : range.host      ? (range.adopted() ? "registered host memory" : "host allocation")
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
  for (const auto& [begin, descriptor] : shared_) close(descriptor);
  for (const auto* const ranges : {&list_->live, &list_->freed}) {
    for (const Allocation& range : *ranges) unmap(range);
  }
}

void* Allocations::allocate(u64 bytes, Use use, MemoryKind kind, u32 device) {
  // Huge-page alignment lets the kernel back large tensors with huge pages: a third less time in page faults and TLB
  // misses.
  if (bytes > kMostBytes)
    throw Failure(FailureKind::kOutOfMemory, fmt::format("{} bytes are more than any memory has", bytes));
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

  insert({.begin = begin,
          .end = begin + bytes,
          .host = use == Use::kHost || use == Use::kArguments,
          .code = use == Use::kCode,
          .arguments = use == Use::kArguments,
          .mapped_bytes = mapped,
          .kind = kind,
          .device = device});
  if (written_ != nullptr && use == Use::kDevice) written_->add(begin, begin + bytes);
  return pointer;
}

void Allocations::adopt(void* pointer, u64 bytes, MemoryKind kind) {
  const u64 begin = reinterpret_cast<u64>(pointer);
  insert({.begin = begin, .end = begin + bytes, .host = true, .kind = kind});
}

void Allocations::insert(Allocation made) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<AllocationList>(*list_);
  const auto overlaps = [&](const Allocation& range) { return range.begin < made.end && made.begin < range.end; };
  if (const auto other = std::ranges::find_if(next->live, overlaps); other != next->live.end()) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("{} bytes at {:#x}: some of them are {}", made.end - made.begin, made.begin,
                              list_->describe(std::max(made.begin, other->begin))));
  }
  made.number = next_number_++;
  made.history = &histories_.emplace_back();
  made.history->written = made.imported || made.adopted();
  next->live.insert(std::ranges::upper_bound(next->live, made.begin, {}, &Allocation::begin), made);
  std::erase_if(next->freed, [&](const Allocation& range) { return range.adopted() && overlaps(range); });
  list_ = std::move(next);
}

void Allocations::track_written() {
  const std::lock_guard lock(mutex_);
  if (written_ == nullptr) written_ = std::make_unique<WrittenBytes>();
}

bool Allocations::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<AllocationList>(*list_);
  const auto found = std::ranges::find(next->live, reinterpret_cast<u64>(pointer), &Allocation::begin);
  if (found == next->live.end()) return false;
  const Allocation range = *found;
  next->live.erase(found);
  close_off(next->freed.emplace_back(range));
  limit_freed(next->freed);
  list_ = std::move(next);
  if (written_ != nullptr) written_->remove(range.begin);
  if (const auto shared = shared_.extract(range.begin)) close(shared.mapped());
  return true;
}

bool Allocations::set_peer_access(u32 device, u32 peer, bool enabled) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<AllocationList>(*list_);
  if (next->peers.size() <= device) next->peers.resize(device + 1);
  u32& peers = next->peers[device];
  const u32 before = peers;
  peers = enabled ? peers | 1u << peer : peers & ~(1u << peer);
  const bool changed = peers != before;
  list_ = std::move(next);
  return changed;
}

int Allocations::share(void* begin) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(list_->live, reinterpret_cast<u64>(begin), &Allocation::begin);
  if (found == list_->live.end())
    throw Failure(FailureKind::kInvalidValue, "only memory of the emulator can be shared");
  const auto [entry, made] = shared_.try_emplace(found->begin, -1);
  if (made) {
    try {
      entry->second = make_shareable(begin, found->mapped_bytes - page_bytes());
      found->history->written = true;  // others may, from now on
    } catch (...) {
      shared_.erase(entry);
      throw;
    }
  }
  return entry->second;
}

bool Allocations::shared() const {
  const std::lock_guard lock(mutex_);
  return !shared_.empty() || std::ranges::any_of(list_->live, &Allocation::imported);
}

void* Allocations::attach(int descriptor, u64 bytes, u32 device) {
  const u64 usable = round_up(bytes, page_bytes());
  const u64 mapped = usable + page_bytes();
  void* const memory = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Failure(FailureKind::kOutOfMemory, fmt::format("{} bytes of shared memory: {}", bytes, std::strerror(errno)));
  map_shared(memory, usable, descriptor);
  insert({.begin = reinterpret_cast<u64>(memory),
          .end = reinterpret_cast<u64>(memory) + bytes,
          .mapped_bytes = mapped,
          .device = device,
          .imported = true});
  return memory;
}

std::shared_ptr<const AllocationList> Allocations::snapshot() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

}  // namespace monojit::emulator
