#include "runtime/emulator/memory/written_bytes.h"

#include <algorithm>

namespace monojit::emulator {
namespace {

constexpr u64 kWord = 64;

/// Bits first..last-1 of the word that holds `first`; `last` may lie beyond it.
u64 mask_within(u64 first, u64 last) {
  const u64 low = first % kWord;
  const u64 count = std::min(kWord - low, last - first);
  return (count == kWord ? ~u64{0} : (u64{1} << count) - 1) << low;
}

}  // namespace

void WrittenBytes::add(u64 begin, u64 end) {
  const std::lock_guard lock(mutex_);
  ranges_[begin] = {.end = end, .bits = std::vector<u64>((end - begin + kWord - 1) / kWord)};
}

void WrittenBytes::remove(u64 begin) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(begin);
}

const std::pair<const u64, WrittenBytes::Range>* WrittenBytes::holding(u64 address) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  const auto& range = *std::prev(after);
  return address < range.second.end ? &range : nullptr;
}

void WrittenBytes::mark(u64 first, u64 last) {
  const std::lock_guard lock(mutex_);
  const auto* const range = holding(first);
  if (range == nullptr) return;
  auto& bits = const_cast<std::vector<u64>&>(range->second.bits);
  const u64 end = std::min(last, range->second.end) - range->first;
  for (u64 at = first - range->first; at < end; at = (at / kWord + 1) * kWord) bits[at / kWord] |= mask_within(at, end);
}

u64 WrittenBytes::first_unwritten(u64 first, u64 last) const {
  const std::lock_guard lock(mutex_);
  const auto* const range = holding(first);
  if (range == nullptr) return last;
  const u64 end = std::min(last, range->second.end) - range->first;
  for (u64 at = first - range->first; at < end; at = (at / kWord + 1) * kWord) {
    const u64 missing = mask_within(at, end) & ~range->second.bits[at / kWord];
    if (missing != 0) return range->first + at / kWord * kWord + static_cast<u64>(__builtin_ctzll(missing));
  }
  return last;
}

}  // namespace monojit::emulator
