// VOP1, VOP2, VOP3: moves, bit operations and integer arithmetic of 32 bits.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

MONOJIT_EMULATOR_INLINE u32 reverse_bits(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

MONOJIT_EMULATOR_INLINE u32 population(u32 x) {
  x -= x >> 1 & 0x55555555;
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/// Index of the highest set bit counted from the top, or -1.
MONOJIT_EMULATOR_INLINE u32 leading_zeros(u32 x) {
  x |= x >> 1, x |= x >> 2, x |= x >> 4, x |= x >> 8, x |= x >> 16;
  return x == 0 ? ~0u : 32 - population(x);
}

MONOJIT_EMULATOR_INLINE u32 trailing_zeros(u32 x) { return x == 0 ? ~0u : population((x & (0 - x)) - 1); }

MONOJIT_EMULATOR_INLINE i32 sign_extended_24(u32 x) { return static_cast<i32>(x << 8) >> 8; }

MONOJIT_EMULATOR_INLINE u32 field(u32 x, u32 offset, u32 width) { return x >> offset & ((1u << width) - 1); }

MONOJIT_EMULATOR_INLINE i32 signed_field(u32 x, u32 offset, u32 width) {
  const u32 bits = static_cast<u32>(static_cast<i32>(x) >> offset);  // bits above 31 are copies of the sign
  const u32 unused = 32 - width;
  return width == 0 ? 0 : static_cast<i32>(bits << (unused & 31)) >> (unused & 31);
}

MONOJIT_EMULATOR_INLINE u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }

// Carries and borrows by bits: GCC reads `a + b < a` as an overflow test, which it does not vectorise.
MONOJIT_EMULATOR_INLINE bool carry_of(u32 a, u32 b, u32 sum) {
  return static_cast<i32>((a & b) | ((a | b) & ~sum)) < 0;
}
MONOJIT_EMULATOR_INLINE bool borrow_of(u32 a, u32 b, u32 difference) {
  return static_cast<i32>((~a & b) | ((~a | b) & difference)) < 0;
}

template <class T>
MONOJIT_EMULATOR_INLINE T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
MONOJIT_EMULATOR_INLINE T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
MONOJIT_EMULATOR_INLINE T median(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

MONOJIT_EMULATOR_INLINE u32 sum_of(u32 a, u32 b, bool carry) { return a + b + (carry ? 1u : 0u); }
MONOJIT_EMULATOR_INLINE u32 difference_of(u32 a, u32 b, bool borrow) { return a - b - (borrow ? 1u : 0u); }
MONOJIT_EMULATOR_INLINE bool carries(u32 a, u32 b, bool carry) { return carry_of(a, b, sum_of(a, b, carry)); }
MONOJIT_EMULATOR_INLINE bool borrows(u32 a, u32 b, bool borrow) { return borrow_of(a, b, difference_of(a, b, borrow)); }

constexpr Entry kEntries[] = {
    vector<[](u32 a) { return a; }>("v_mov_b32"),
    vector<[](u32 a) { return a; }>("v_accvgpr_mov_b32"),
    vector<[](u32 a) { return a; }>("v_accvgpr_read_b32"),
    vector<[](u32 a) { return a; }>("v_accvgpr_write_b32"),
    vector<[](u64 a) { return a; }>("v_mov_b64"),
    vector<[](u32 a) { return ~a; }>("v_not_b32"),
    vector<[](u32 a) { return reverse_bits(a); }>("v_bfrev_b32"),
    vector<[](u32 a) { return leading_zeros(a); }>("v_ffbh_u32"),
    vector<[](u32 a) { return leading_zeros(static_cast<i32>(a) < 0 ? ~a : a); }>("v_ffbh_i32"),
    vector<[](u32 a) { return trailing_zeros(a); }>("v_ffbl_b32"),
    vector<[](u32 a, u32 b) { return population(a) + b; }>("v_bcnt_u32_b32"),
    vector<[](u32 a, u32 b, bool c) { return c ? b : a; }>("v_cndmask_b32"),
    vector<[](u32 a, u32 b) { return a & b; }>("v_and_b32"),
    vector<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
    vector<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
    vector<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
    vector<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
    vector<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
    vector<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
    vector<[](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32"),
    vector<[](u32 a, u32 b) { return b >> (a & 31); }>("v_lshrrev_b32"),
    vector<[](u32 a, i32 b) { return b >> (a & 31); }>("v_ashrrev_i32"),
    vector<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>("v_lshl_add_u32"),
    vector<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>("v_add_lshl_u32"),
    vector<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>("v_lshl_or_b32"),
    vector<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
    vector<[](u32 a, u32 b, u32 c) { return field(a, b & 31, c & 31); }>("v_bfe_u32"),
    vector<[](u32 a, u32 b, u32 c) { return signed_field(a, b & 31, c & 31); }>("v_bfe_i32"),
    vector<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("v_bfm_b32"),
    vector<[](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (c & 31)); }>("v_alignbit_b32"),
    vector<[](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (8 * (c & 3))); }>(
        "v_alignbyte_b32"),

    vector<[](u32 a, u32 b) { return a + b; }>("v_add_u32"),
    vector<[](u32 a, u32 b) { return a - b; }>("v_sub_u32"),
    vector<[](u32 a, u32 b) { return b - a; }>("v_subrev_u32"),
    vector<[](u32 a, u32 b) { return a + b; }>("v_add_i32"),
    vector<[](u32 a, u32 b) { return a - b; }>("v_sub_i32"),
    vector<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
    vector<[](u32 a, u32 b) { return sum_of(a, b, false); }, [](u32 a, u32 b) { return carries(a, b, false); }>(
        "v_add_co_u32"),
    vector<[](u32 a, u32 b) { return difference_of(a, b, false); }, [](u32 a, u32 b) { return borrows(a, b, false); }>(
        "v_sub_co_u32"),
    vector<[](u32 a, u32 b) { return difference_of(b, a, false); }, [](u32 a, u32 b) { return borrows(b, a, false); }>(
        "v_subrev_co_u32"),
    vector<[](u32 a, u32 b, bool c) { return sum_of(a, b, c); }, [](u32 a, u32 b, bool c) { return carries(a, b, c); }>(
        "v_addc_co_u32"),
    vector<[](u32 a, u32 b, bool c) { return difference_of(a, b, c); },
           [](u32 a, u32 b, bool c) { return borrows(a, b, c); }>("v_subb_co_u32"),
    vector<[](u32 a, u32 b, bool c) { return difference_of(b, a, c); },
           [](u32 a, u32 b, bool c) { return borrows(b, a, c); }>("v_subbrev_co_u32"),
    vector<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"),
    vector<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>("v_mul_hi_u32"),
    vector<[](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }>("v_mul_hi_i32"),
    vector<[](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }>("v_mul_u32_u24"),
    vector<[](u32 a, u32 b) { return static_cast<u32>(sign_extended_24(a)) * static_cast<u32>(sign_extended_24(b)); }>(
        "v_mul_i32_i24"),
    vector<[](u32 a, u32 b) { return static_cast<u32>(u64{a & 0xffffff} * (b & 0xffffff) >> 32); }>("v_mul_hi_u32_u24"),
    vector<[](u32 a, u32 b) { return static_cast<i32>(i64{sign_extended_24(a)} * sign_extended_24(b) >> 32); }>(
        "v_mul_hi_i32_i24"),
    vector<[](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }>("v_mad_u32_u24"),
    vector<[](u32 a, u32 b, u32 c) {
      return static_cast<u32>(sign_extended_24(a)) * static_cast<u32>(sign_extended_24(b)) + c;
    }>("v_mad_i32_i24"),
    vector<[](u32 a, u32 b) { return smaller(a, b); }>("v_min_u32"),
    vector<[](u32 a, u32 b) { return larger(a, b); }>("v_max_u32"),
    vector<[](i32 a, i32 b) { return smaller(a, b); }>("v_min_i32"),
    vector<[](i32 a, i32 b) { return larger(a, b); }>("v_max_i32"),
    vector<[](u32 a, u32 b, u32 c) { return smaller(smaller(a, b), c); }>("v_min3_u32"),
    vector<[](u32 a, u32 b, u32 c) { return larger(larger(a, b), c); }>("v_max3_u32"),
    vector<[](i32 a, i32 b, i32 c) { return smaller(smaller(a, b), c); }>("v_min3_i32"),
    vector<[](i32 a, i32 b, i32 c) { return larger(larger(a, b), c); }>("v_max3_i32"),
    vector<[](u32 a, u32 b, u32 c) { return median(a, b, c); }>("v_med3_u32"),
    vector<[](i32 a, i32 b, i32 c) { return median(a, b, c); }>("v_med3_i32"),
    vector<[](u32 a, u32 b, u32 c) { return distance(a, b) + c; }>("v_sad_u32"),
    vector<[](u32 a, u32 b, u32 c) { return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16) + c; }>(
        "v_sad_u16"),
};

}  // namespace

std::span<const Entry> vector_move_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
