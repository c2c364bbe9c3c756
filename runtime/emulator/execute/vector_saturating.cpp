// Integer operations with clamp: results saturate instead of wrapping. All that could wrap are here; clamp changes
// nothing about the others.
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

/// One half of a packed source as a number.
template <class T>
MONOJIT_EMULATOR_INLINE i64 half_of(u32 x, u32 index) {
  return static_cast<T>(static_cast<u16>(x >> (16 * index)));
}

template <class T, auto kFunction, class... Sources>
MONOJIT_EMULATOR_INLINE u32 saturated_pair(Sources... sources) {
  const u16 low = static_cast<u16>(saturated<T>(kFunction(half_of<T>(sources, 0)...)));
  const u16 high = static_cast<u16>(saturated<T>(kFunction(half_of<T>(sources, 1)...)));
  return u32{low} | u32{high} << 16;
}

/// Sum of kCount products of kBits-bit fields, in 64 bits.
template <bool kSigned, u32 kCount>
MONOJIT_EMULATOR_INLINE i64 dot(u32 a, u32 b) {
  constexpr u32 kBits = 32 / kCount;
  const auto field = [](u32 x, u32 index) {
    const u32 top = x << (32 - kBits - kBits * index);
    return kSigned ? i64{static_cast<i32>(top) >> (32 - kBits)} : i64{top >> (32 - kBits)};
  };
  i64 sum = 0;
  for (u32 i = 0; i < kCount; ++i) sum += field(a, i) * field(b, i);
  return sum;
}

template <u32 kCount>
consteval Entry signed_dot(std::string_view mnemonic, u16 flags = 0) {
  return vector<[](u32 a, u32 b, i32 c) { return saturated<i32>(dot<true, kCount>(a, b) + c); }>(mnemonic, flags);
}
template <u32 kCount>
consteval Entry unsigned_dot(std::string_view mnemonic, u16 flags = 0) {
  return vector<[](u32 a, u32 b, u32 c) { return saturated<u32>(dot<false, kCount>(a, b) + c); }>(mnemonic, flags);
}

constexpr auto kAdd = [](i64 a, i64 b) { return a + b; };
constexpr auto kSubtract = [](i64 a, i64 b) { return a - b; };
constexpr auto kMultiply = [](i64 a, i64 b) { return a * b; };
constexpr auto kMultiplyAdd = [](i64 a, i64 b, i64 c) { return a * b + c; };

MONOJIT_EMULATOR_INLINE i64 sign_extended_24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
MONOJIT_EMULATOR_INLINE i64 low_24(u32 x) { return x & 0xffffff; }
MONOJIT_EMULATOR_INLINE i64 distance(u32 a, u32 b) { return a > b ? i64{a} - b : i64{b} - a; }

MONOJIT_EMULATOR_INLINE u64 sum_of(u32 a, u32 b, bool carry) { return u64{a} + b + (carry ? 1 : 0); }
MONOJIT_EMULATOR_INLINE i64 difference_of(u32 a, u32 b, bool borrow) { return i64{a} - b - (borrow ? 1 : 0); }
MONOJIT_EMULATOR_INLINE u32 saturated_sum(u32 a, u32 b, bool carry) {
  return saturated<u32>(static_cast<i64>(sum_of(a, b, carry)));
}
MONOJIT_EMULATOR_INLINE bool carries(u32 a, u32 b, bool carry) { return sum_of(a, b, carry) >> 32 != 0; }
MONOJIT_EMULATOR_INLINE u32 saturated_difference(u32 a, u32 b, bool borrow) {
  return saturated<u32>(difference_of(a, b, borrow));
}
MONOJIT_EMULATOR_INLINE bool borrows(u32 a, u32 b, bool borrow) { return difference_of(a, b, borrow) < 0; }

MONOJIT_EMULATOR_INLINE bool wide_carry(u32 a, u32 b, u64 c) { return u64{a} * b + c < c; }
MONOJIT_EMULATOR_INLINE u64 saturated_wide(i32 a, i32 b, u64 c) {
  const u64 product = static_cast<u64>(i64{a} * b), sum = product + c;
  const bool overflow = static_cast<i64>((product ^ sum) & (c ^ sum)) < 0;
  const u64 limit = static_cast<i64>(c) < 0 ? u64{1} << 63 : ~(u64{1} << 63);
  return overflow ? limit : sum;
}

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
    vector<[](u16 a, u16 b) { return saturated<u16>(i64{b} - a); }>("v_subrev_u16+clamp"),
    vector<[](u16 a, u16 b) { return saturated<u16>(i64{a} * b); }>("v_mul_lo_u16+clamp"),
    vector<[](u16 a, u16 b, u16 c) { return saturated<u16>(i64{a} * b + c); }>("v_mad_u16+clamp", kInsertsHalf),
    vector<[](i16 a, i16 b, i16 c) { return saturated<i16>(i64{a} * b + c); }>("v_mad_i16+clamp", kInsertsHalf),
    vector<[](u16 a, u16 b, u16 c) { return saturated<u16>(i64{a} * b + c); }>("v_mad_legacy_u16+clamp"),
    vector<[](i16 a, i16 b, i16 c) { return saturated<i16>(i64{a} * b + c); }>("v_mad_legacy_i16+clamp"),
    vector<[](u16 a, u16 b, u32 c) { return saturated<u32>(i64{a} * b + c); }>("v_mad_u32_u16+clamp"),
    vector<[](i16 a, i16 b, i32 c) { return saturated<i32>(i64{a} * b + c); }>("v_mad_i32_i16+clamp"),
    vector<[](u32 a, u32 b) { return saturated<u32>(low_24(a) * low_24(b)); }>("v_mul_u32_u24+clamp"),
    vector<[](u32 a, u32 b) { return saturated<i32>(sign_extended_24(a) * sign_extended_24(b)); }>(
        "v_mul_i32_i24+clamp"),
    vector<[](u32 a, u32 b, u32 c) { return saturated<u32>(low_24(a) * low_24(b) + c); }>("v_mad_u32_u24+clamp"),
    vector<[](u32 a, u32 b, i32 c) { return saturated<i32>(sign_extended_24(a) * sign_extended_24(b) + c); }>(
        "v_mad_i32_i24+clamp"),
    vector<[](u32 a, u32 b, u64 c) { return wide_carry(a, b, c) ? ~u64{0} : u64{a} * b + c; },
           [](u32 a, u32 b, u64 c) { return wide_carry(a, b, c); }>("v_mad_u64_u32+clamp"),
    vector<[](i32 a, i32 b, u64 c) { return saturated_wide(a, b, c); },
           [](i32 a, i32 b, u64 c) {
             const u64 product = static_cast<u64>(i64{a} * b);
             return static_cast<i64>((product & c) | ((product | c) & ~(product + c))) < 0;
           }>("v_mad_i64_i32+clamp"),
    vector<[](u32 a, u32 b, u32 c) { return saturated<u32>(distance(a, b) + c); }>("v_sad_u32+clamp"),
    vector<[](u32 a, u32 b, u32 c) {
      return saturated<u32>(distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16) + c);
    }>("v_sad_u16+clamp"),
    vector<[](u32 a, u32 b) { return saturated_sum(a, b, false); }, [](u32 a, u32 b) { return carries(a, b, false); }>(
        "v_add_co_u32+clamp"),
    vector<[](u32 a, u32 b) { return saturated_difference(a, b, false); },
           [](u32 a, u32 b) { return borrows(a, b, false); }>("v_sub_co_u32+clamp"),
    vector<[](u32 a, u32 b) { return saturated_difference(b, a, false); },
           [](u32 a, u32 b) { return borrows(b, a, false); }>("v_subrev_co_u32+clamp"),
    vector<[](u32 a, u32 b, bool c) { return saturated_sum(a, b, c); },
           [](u32 a, u32 b, bool c) { return carries(a, b, c); }>("v_addc_co_u32+clamp"),
    vector<[](u32 a, u32 b, bool c) { return saturated_difference(a, b, c); },
           [](u32 a, u32 b, bool c) { return borrows(a, b, c); }>("v_subb_co_u32+clamp"),
    vector<[](u32 a, u32 b, bool c) { return saturated_difference(b, a, c); },
           [](u32 a, u32 b, bool c) { return borrows(b, a, c); }>("v_subbrev_co_u32+clamp"),
    signed_dot<2>("v_dot2_i32_i16+clamp", kPacked),
    unsigned_dot<2>("v_dot2_u32_u16+clamp", kPacked),
    signed_dot<2>("v_dot2c_i32_i16+clamp", kTied),
    signed_dot<4>("v_dot4_i32_i8+clamp"),
    unsigned_dot<4>("v_dot4_u32_u8+clamp"),
    signed_dot<4>("v_dot4c_i32_i8+clamp", kTied),
    signed_dot<8>("v_dot8_i32_i4+clamp"),
    unsigned_dot<8>("v_dot8_u32_u4+clamp"),
    signed_dot<8>("v_dot8c_i32_i4+clamp", kTied),
    vector<[](u32 a, u32 b) { return saturated_pair<u16, kMultiply>(a, b); }>("v_pk_mul_lo_u16+clamp", kPacked),
    vector<[](u32 a, u32 b, u32 c) { return saturated_pair<u16, kMultiplyAdd>(a, b, c); }>("v_pk_mad_u16+clamp",
                                                                                           kPacked),
    vector<[](u32 a, u32 b, u32 c) { return saturated_pair<i16, kMultiplyAdd>(a, b, c); }>("v_pk_mad_i16+clamp",
                                                                                           kPacked),
    vector<[](u32 a, u32 b) { return saturated_pair<u16, kAdd>(a, b); }>("v_pk_add_u16+clamp", kPacked),
    vector<[](u32 a, u32 b) { return saturated_pair<u16, kSubtract>(a, b); }>("v_pk_sub_u16+clamp", kPacked),
    vector<[](u32 a, u32 b) { return saturated_pair<i16, kAdd>(a, b); }>("v_pk_add_i16+clamp", kPacked),
    vector<[](u32 a, u32 b) { return saturated_pair<i16, kSubtract>(a, b); }>("v_pk_sub_i16+clamp", kPacked),
};

}  // namespace

std::span<const Entry> vector_saturating_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
