#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "ir/math.h"
#include "ir/value.h"

namespace monojit::ir {

namespace detail {
// Values of any type: their 32-bit pieces go through the lane operations one by one.
llvm::Value* readfirstlane(llvm::Value* value, Loc loc);
llvm::Value* readlane(llvm::Value* value, llvm::Value* lane, Loc loc);
llvm::Value* writelane(llvm::Value* value, llvm::Value* lane, llvm::Value* old, Loc loc);
llvm::Value* bpermute(llvm::Value* byte_address, llvm::Value* value, Loc loc);
llvm::Value* permute_to(llvm::Value* byte_address, llvm::Value* value, Loc loc);
llvm::Value* dpp(llvm::Value* old, llvm::Value* value, int control, int row_mask, int bank_mask, Loc loc);
llvm::Value* lane_xor(llvm::Value* value, int distance, Loc loc);
struct SwappedValues {
  llvm::Value* first;
  llvm::Value* second;
};
SwappedValues permlane_swap(Op op, llvm::Value* first, llvm::Value* second, Loc loc);
/// `value` of this lane and of lane xor `distance`; which comes first differs by chip and distance. `repeats`: lanes
/// xor 2 distance hold the same value already, which makes distance 4 cheaper.
SwappedValues exchange(llvm::Value* value, int distance, bool repeats, Loc loc);
/// In lanes 0..15 and 32..47, `first` of this lane and of lane xor 16; in the others, `second` of both.
SwappedValues pair_rows(llvm::Value* first, llvm::Value* second, Loc loc);
}  // namespace detail

template <class T>
concept LaneValue = std::derived_from<T, Value>;

/// The value of the lowest active lane, for all lanes: an SGPR.
template <LaneValue T>
Uniform<T> readfirstlane(const T& value, Loc loc = Loc::current()) {
  return Uniform<T>(Raw{detail::readfirstlane(value.get(), loc)});
}
/// The way from a per-lane value that the writer knows to be equal in all lanes to a Uniform one.
template <LaneValue T>
Uniform<T> uniform(const T& value, Loc loc = Loc::current()) {
  return readfirstlane(value, loc);
}
template <class T>
Uniform<T> uniform(const Uniform<T>& value, Loc = Loc::current()) {
  return value;
}
template <class T>
Uniform<T> uniform(const Var<T>& value, Loc loc = Loc::current()) {
  return readfirstlane(value.value(loc), loc);
}

/// The value of lane `lane`, active or not.
template <LaneValue T>
Uniform<T> readlane(const T& value, const Uniform<Int32>& lane, Loc loc = Loc::current()) {
  return Uniform<T>(Raw{detail::readlane(value.get(), lane.get(), loc)});
}
/// `old` with lane `lane` replaced by `value`.
template <LaneValue T>
T writelane(const T& old, const Uniform<T>& value, const Uniform<Int32>& lane, Loc loc = Loc::current()) {
  return T(Raw{detail::writelane(value.get(), lane.get(), old.get(), loc)});
}

/// The value of lane (byte_address / 4) modulo 64; 0 if that lane is not active.
template <LaneValue T>
T ds_bpermute(const Int32& byte_address, const T& value, Loc loc = Loc::current()) {
  return T(Raw{detail::bpermute(byte_address.get(), value.get(), loc)});
}
/// The value of lane `lane` modulo 64.
template <LaneValue T>
T shuffle(const T& value, const Int32& lane, Loc loc = Loc::current()) {
  return ds_bpermute(At<Int32>(lane, loc) << 2, value, loc);
}
/// Sends the value to lane (byte_address / 4) modulo 64; lanes that no one sends to get 0.
template <LaneValue T>
T ds_permute(const Int32& byte_address, const T& value, Loc loc = Loc::current()) {
  return T(Raw{detail::permute_to(byte_address.get(), value.get(), loc)});
}

/// DPP controls: where in its row of 16 lanes a lane reads. "left" reads from lower lanes moved up, see each line.
struct DppControl {
  int value;
  /// Lanes 4i .. 4i+3 read lanes 4i+a, 4i+b, 4i+c, 4i+d.
  static constexpr DppControl quad_perm(int a, int b, int c, int d) { return {a | b << 2 | c << 4 | d << 6}; }
  static constexpr DppControl row_shl(int n) { return {0x100 + n}; }  ///< lane i reads lane i + n
  static constexpr DppControl row_shr(int n) { return {0x110 + n}; }  ///< lane i reads lane i - n
  static constexpr DppControl row_ror(int n) { return {0x120 + n}; }  ///< lane i reads lane (i - n) modulo 16
  static constexpr DppControl row_mirror() { return {0x140}; }        ///< lane i reads lane 15 - i
  static constexpr DppControl row_half_mirror() { return {0x141}; }   ///< the same in halves of 8
  static constexpr DppControl row_bcast15() { return {0x142}; }       ///< a row reads the last lane of the row before
  static constexpr DppControl row_bcast31() { return {0x143}; }       ///< lanes 32..63 read lane 31
  static constexpr DppControl row_newbcast(int n) { return {0x150 + n}; }  ///< every lane reads lane n of its row
};
struct DppMask {
  int rows = 0xF;   ///< which of the four rows of 16 lanes are written
  int banks = 0xF;  ///< which groups of four lanes in each row
};
/// `value` read through `control`; lanes that are masked off, or that would read outside of their row, keep `old`.
template <LaneValue T>
T dpp(DppControl control, const T& old, const T& value, DppMask mask = {}, Loc loc = Loc::current()) {
  return T(Raw{detail::dpp(old.get(), value.get(), control.value, mask.rows, mask.banks, loc)});
}

/// The value of lane xor `distance`: 1, 2, 4, 8, 16 or 32. All lanes have to be active.
template <LaneValue T>
T lane_xor(const T& value, int distance, Loc loc = Loc::current()) {
  return T(Raw{detail::lane_xor(value.get(), distance, loc)});
}

template <class T>
struct Swapped {
  T first;
  T second;
};
/// Trades lanes 16..31 of `first` with 0..15 of `second`, and 48..63 with 32..47. gfx950; all lanes have to be active.
template <LaneValue T>
Swapped<T> permlane16_swap(const T& first, const T& second, Loc loc = Loc::current()) {
  const auto swapped = detail::permlane_swap(Op::permlane16_swap, first.get(), second.get(), loc);
  return {T(Raw{swapped.first}), T(Raw{swapped.second})};
}
/// Trades lanes 32..63 of `first` with 0..31 of `second`. gfx950; all lanes have to be active.
template <LaneValue T>
Swapped<T> permlane32_swap(const T& first, const T& second, Loc loc = Loc::current()) {
  const auto swapped = detail::permlane_swap(Op::permlane32_swap, first.get(), second.get(), loc);
  return {T(Raw{swapped.first}), T(Raw{swapped.second})};
}

/// Bit i: whether `condition` holds in active lane i.
Uniform<Int64> ballot(const Bool& condition, Loc loc = Loc::current());
Uniform<Bool> any(const Bool& condition, Loc loc = Loc::current());
/// Whether it holds in every active lane.
Uniform<Bool> all(const Bool& condition, Loc loc = Loc::current());
/// `base` + how many bits of `mask` below this lane's are set.
Int32 mbcnt(const Uniform<Int64>& mask, const Int32& base = 0, Loc loc = Loc::current());

namespace detail {
template <class T, class F>
T reduce(T value, int first_distance, F&& operation, Loc loc) {
  for (int distance = first_distance; distance >= 1; distance /= 2) {
    const SwappedValues pair = exchange(value.get(), distance, distance < first_distance, loc);
    value = operation(T(Raw{pair.first}), T(Raw{pair.second}));
  }
  return value;
}
}  // namespace detail

/// Reduces over the 32 lanes of each half wave, over lanes xor 16, 8, 4, 2, 1 in this order; every lane gets the
/// result. `operation` has to be commutative. All lanes have to be active.
template <LaneValue T, class F>
T half_wave_reduce(const T& value, F&& operation, Loc loc = Loc::current()) {
  return detail::reduce(value, 16, operation, loc);
}
/// The same over all 64 lanes: xor 32 first.
template <LaneValue T, class F>
T wave_reduce(const T& value, F&& operation, Loc loc = Loc::current()) {
  return detail::reduce(value, 32, operation, loc);
}
template <LaneValue T>
T half_wave_sum(const T& value, Loc loc = Loc::current()) {
  return half_wave_reduce(value, [&](const T& a, const T& b) { return At<T>(a, loc) + b; }, loc);
}
/// Two half-wave sums at little more than the price of one: of `first` in lanes 0..15 and 32..47, of `second` in the
/// others. The bits are half_wave_sum's.
template <LaneValue T>
T half_wave_sums(const T& first, const T& second, Loc loc = Loc::current()) {
  const detail::SwappedValues rows = detail::pair_rows(first.get(), second.get(), loc);
  const auto add = [&](const T& a, const T& b) { return At<T>(a, loc) + b; };
  return detail::reduce(add(T(Raw{rows.first}), T(Raw{rows.second})), 8, add, loc);
}
template <LaneValue T>
T wave_sum(const T& value, Loc loc = Loc::current()) {
  return wave_reduce(value, [&](const T& a, const T& b) { return At<T>(a, loc) + b; }, loc);
}
template <LaneValue T>
T half_wave_max(const T& value, Loc loc = Loc::current()) {
  return half_wave_reduce(value, [&](const T& a, const T& b) { return max(a, b, loc); }, loc);
}
template <LaneValue T>
T wave_max(const T& value, Loc loc = Loc::current()) {
  return wave_reduce(value, [&](const T& a, const T& b) { return max(a, b, loc); }, loc);
}

}  // namespace monojit::ir
