// Integer operations with clamp: results saturate instead of wrapping.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

template <class T>
MONOJIT_EMULATOR_INLINE T saturated(i64 value) {
  constexpr i64 kLow = static_cast<T>(-1) < T{0} ? -(i64{1} << (8 * sizeof(T) - 1)) : 0;
  constexpr i64 kHigh =
      static_cast<T>(-1) < T{0} ? (i64{1} << (8 * sizeof(T) - 1)) - 1 : (i64{1} << (8 * sizeof(T))) - 1;
  return static_cast<T>(value < kLow ? kLow : value > kHigh ? kHigh : value);
}

template <class T, auto kFunction>
MONOJIT_EMULATOR_INLINE u32 saturated_pair(u32 a, u32 b) {
  const auto half = [](u32 x) { return i64{static_cast<T>(static_cast<u16>(x))}; };
  const u16 low = static_cast<u16>(saturated<T>(kFunction(half(a), half(b))));
  const u16 high = static_cast<u16>(saturated<T>(kFunction(half(a >> 16), half(b >> 16))));
  return u32{low} | u32{high} << 16;
}

constexpr auto kAdd = [](i64 a, i64 b) { return a + b; };
constexpr auto kSubtract = [](i64 a, i64 b) { return a - b; };

constexpr Entry kEntries[] = {
    vector<[](u32 a, u32 b) { return a + b < a ? ~0u : a + b; }>("v_add_u32+clamp"),
    vector<[](u32 a, u32 b) { return a < b ? 0u : a - b; }>("v_sub_u32+clamp"),
    vector<[](u32 a, u32 b) { return b < a ? 0u : b - a; }>("v_subrev_u32+clamp"),
    vector<[](i32 a, i32 b) { return saturated<i32>(i64{a} + b); }>("v_add_i32+clamp"),
    vector<[](i32 a, i32 b) { return saturated<i32>(i64{a} - b); }>("v_sub_i32+clamp"),
    vector<[](u16 a, u16 b) { return saturated<u16>(i64{a} + b); }>("v_add_u16+clamp"),
    vector<[](u16 a, u16 b) { return saturated<u16>(i64{a} - b); }>("v_sub_u16+clamp"),
    vector<[](i16 a, i16 b) { return saturated<i16>(i64{a} + b); }>("v_add_i16+clamp"),
    vector<[](i16 a, i16 b) { return saturated<i16>(i64{a} - b); }>("v_sub_i16+clamp"),
    vector<[](u32 a, u32 b) { return saturated_pair<u16, kAdd>(a, b); }>("v_pk_add_u16+clamp", kPacked),
    vector<[](u32 a, u32 b) { return saturated_pair<u16, kSubtract>(a, b); }>("v_pk_sub_u16+clamp", kPacked),
    vector<[](u32 a, u32 b) { return saturated_pair<i16, kAdd>(a, b); }>("v_pk_add_i16+clamp", kPacked),
    vector<[](u32 a, u32 b) { return saturated_pair<i16, kSubtract>(a, b); }>("v_pk_sub_i16+clamp", kPacked),
};

}  // namespace

std::span<const Entry> vector_saturating_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
