// SOP1, SOP2, SOPC, SOPK on 32 bits.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/scalars.h"

namespace monojit::emulator {
namespace {

u32 with_scc(u32 result, u32& scc) {
  scc = result != 0;
  return result;
}

u32 add(u32 a, u32 b, u32 carry, u32& scc) {
  const u64 sum = u64{a} + b + carry;
  scc = static_cast<u32>(sum >> 32);
  return static_cast<u32>(sum);
}

u32 subtract(u32 a, u32 b, u32 borrow, u32& scc) {
  scc = u64{b} + borrow > a;
  return a - b - borrow;
}

u32 add_signed(u32 a, u32 b, u32& scc) {
  i32 sum;
  scc = __builtin_add_overflow(static_cast<i32>(a), static_cast<i32>(b), &sum);
  return static_cast<u32>(sum);
}

u32 subtract_signed(u32 a, u32 b, u32& scc) {
  i32 difference;
  scc = __builtin_sub_overflow(static_cast<i32>(a), static_cast<i32>(b), &difference);
  return static_cast<u32>(difference);
}

u32 shift_add(u32 a, u32 b, u32 shift, u32& scc) {
  const u64 sum = (u64{a} << shift) + b;
  scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
}

u32 field(u32 x, u32 selector) {
  const u32 offset = selector & 31;
  const u32 width = selector >> 16 & 127;
  return width == 0 ? 0 : width >= 32 ? x >> offset : x >> offset & ((1u << width) - 1);
}

u32 signed_field(u32 x, u32 selector) {
  const u32 offset = selector & 31;
  const u32 width = selector >> 16 & 127;
  if (width == 0) return 0;
  if (width + offset >= 32) return static_cast<u32>(static_cast<i32>(x) >> offset);
  return static_cast<u32>(static_cast<i32>(x << (32 - width - offset)) >> (32 - width));
}

u32 leading_zeros(u32 x) { return x == 0 ? ~0u : static_cast<u32>(__builtin_clz(x)); }
u32 trailing_zeros(u32 x) { return x == 0 ? ~0u : static_cast<u32>(__builtin_ctz(x)); }

u32 reverse_bits(u32 x) {
  u32 result = 0;
  for (u32 i = 0; i < 32; ++i) result |= (x >> i & 1) << (31 - i);
  return result;
}

/// Each bit stands for its group of four: all ones if any is set.
u32 quad_mask(u32 x) {
  u32 result = 0;
  for (u32 i = 0; i < 8; ++i) result |= ((x >> (4 * i) & 15) != 0 ? 1u : 0u) << i;
  return result;
}

u32 whole_quads(u32 x) {
  u32 result = 0;
  for (u32 i = 0; i < 8; ++i) result |= ((x >> (4 * i) & 15) != 0 ? 15u : 0u) << (4 * i);
  return result;
}

constexpr Entry kEntries[] = {
    scalar<[](u32 a) { return a; }>("s_mov_b32"),
    scalar<[](u32 a, u32 old, u32& scc) { return scc != 0 ? a : old; }>("s_cmov_b32", kTied),
    scalar<[](u32 a, u32 b, u32& scc) { return scc != 0 ? a : b; }>("s_cselect_b32"),
    scalar<[](u32 a, u32& scc) { return with_scc(~a, scc); }>("s_not_b32"),
    scalar<[](u32 a, u32& scc) { return with_scc(whole_quads(a), scc); }>("s_wqm_b32"),
    scalar<[](u32 a, u32& scc) { return with_scc(quad_mask(a), scc); }>("s_quadmask_b32"),
    scalar<[](u32 a) { return reverse_bits(a); }>("s_brev_b32"),
    scalar<[](u32 a, u32& scc) { return with_scc(32 - static_cast<u32>(__builtin_popcount(a)), scc); }>(
        "s_bcnt0_i32_b32"),
    scalar<[](u32 a, u32& scc) { return with_scc(static_cast<u32>(__builtin_popcount(a)), scc); }>("s_bcnt1_i32_b32"),
    scalar<[](u32 a) { return trailing_zeros(~a); }>("s_ff0_i32_b32"),
    scalar<[](u32 a) { return trailing_zeros(a); }>("s_ff1_i32_b32"),
    scalar<[](u32 a) { return leading_zeros(a); }>("s_flbit_i32_b32"),
    scalar<[](u32 a) { return leading_zeros(static_cast<i32>(a) < 0 ? ~a : a); }>("s_flbit_i32"),
    scalar<[](u32 a) { return static_cast<u32>(static_cast<i32>(static_cast<i8>(a))); }>("s_sext_i32_i8"),
    scalar<[](u32 a) { return static_cast<u32>(static_cast<i32>(static_cast<i16>(a))); }>("s_sext_i32_i16"),
    scalar<[](u32 a, u32 old) { return old & ~(1u << (a & 31)); }>("s_bitset0_b32", kTied),
    scalar<[](u32 a, u32 old) { return old | 1u << (a & 31); }>("s_bitset1_b32", kTied),
    scalar<[](u32 a, u32& scc) { return with_scc(static_cast<i32>(a) < 0 ? 0 - a : a, scc); }>("s_abs_i32"),

    scalar<[](u32 a, u32 b, u32& scc) { return add(a, b, 0, scc); }>("s_add_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return subtract(a, b, 0, scc); }>("s_sub_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return add(a, b, scc, scc); }>("s_addc_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return subtract(a, b, scc, scc); }>("s_subb_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return add_signed(a, b, scc); }>("s_add_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { return subtract_signed(a, b, scc); }>("s_sub_i32"),
    scalar<[](u32 a, u32 b, u32& scc) {
      const u32 difference = a - b;
      return with_scc(static_cast<i32>(difference) < 0 ? 0 - difference : difference, scc);
    }>("s_absdiff_i32"),
    scalar<[](u32 a, u32 b, u32& scc) {
      scc = static_cast<i32>(a) < static_cast<i32>(b);
      return scc != 0 ? a : b;
    }>("s_min_i32"),
    scalar<[](u32 a, u32 b, u32& scc) {
      scc = a < b;
      return scc != 0 ? a : b;
    }>("s_min_u32"),
    scalar<[](u32 a, u32 b, u32& scc) {
      scc = static_cast<i32>(a) > static_cast<i32>(b);
      return scc != 0 ? a : b;
    }>("s_max_i32"),
    scalar<[](u32 a, u32 b, u32& scc) {
      scc = a > b;
      return scc != 0 ? a : b;
    }>("s_max_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(a & b, scc); }>("s_and_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(a | b, scc); }>("s_or_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(a ^ b, scc); }>("s_xor_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(a & ~b, scc); }>("s_andn2_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(a | ~b, scc); }>("s_orn2_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(~(a & b), scc); }>("s_nand_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(~(a | b), scc); }>("s_nor_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(~(a ^ b), scc); }>("s_xnor_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(a << (b & 31), scc); }>("s_lshl_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(a >> (b & 31), scc); }>("s_lshr_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(static_cast<u32>(static_cast<i32>(a) >> (b & 31)), scc); }>(
        "s_ashr_i32"),
    scalar<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("s_bfm_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(field(a, b), scc); }>("s_bfe_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return with_scc(signed_field(a, b), scc); }>("s_bfe_i32"),
    scalar<[](u32 a, u32 b) { return a * b; }>("s_mul_i32"),
    scalar<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>("s_mul_hi_u32"),
    scalar<[](u32 a, u32 b) {
      return static_cast<u32>(static_cast<u64>(i64{static_cast<i32>(a)} * static_cast<i32>(b)) >> 32);
    }>("s_mul_hi_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { return shift_add(a, b, 1, scc); }>("s_lshl1_add_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return shift_add(a, b, 2, scc); }>("s_lshl2_add_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return shift_add(a, b, 3, scc); }>("s_lshl3_add_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { return shift_add(a, b, 4, scc); }>("s_lshl4_add_u32"),
    scalar<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>("s_pack_ll_b32_b16"),
    scalar<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>("s_pack_lh_b32_b16"),
    scalar<[](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); }>("s_pack_hh_b32_b16"),

    scalar<[](u32 a, u32 b, u32& scc) { scc = a == b; }>("s_cmp_eq_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = a != b; }>("s_cmp_lg_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = static_cast<i32>(a) > static_cast<i32>(b); }>("s_cmp_gt_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = static_cast<i32>(a) >= static_cast<i32>(b); }>("s_cmp_ge_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = static_cast<i32>(a) < static_cast<i32>(b); }>("s_cmp_lt_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = static_cast<i32>(a) <= static_cast<i32>(b); }>("s_cmp_le_i32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = a == b; }>("s_cmp_eq_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = a != b; }>("s_cmp_lg_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = a > b; }>("s_cmp_gt_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = a >= b; }>("s_cmp_ge_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = a < b; }>("s_cmp_lt_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = a <= b; }>("s_cmp_le_u32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = (a >> (b & 31) & 1) == 0; }>("s_bitcmp0_b32"),
    scalar<[](u32 a, u32 b, u32& scc) { scc = (a >> (b & 31) & 1) != 0; }>("s_bitcmp1_b32"),

    scalar<[](u32 k) { return k; }>("s_movk_i32", kImmediate),
    scalar<[](u32 k, u32 old, u32& scc) { return scc != 0 ? k : old; }>("s_cmovk_i32", kImmediate | kTied),
    scalar<[](u32 k, u32 old, u32& scc) { return add_signed(old, k, scc); }>("s_addk_i32", kImmediate | kTied),
    scalar<[](u32 k, u32 old) { return old * k; }>("s_mulk_i32", kImmediate | kTied),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a == k; }>("s_cmpk_eq_i32", kImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a != k; }>("s_cmpk_lg_i32", kImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = static_cast<i32>(a) > static_cast<i32>(k); }>("s_cmpk_gt_i32",
                                                                                            kImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = static_cast<i32>(a) >= static_cast<i32>(k); }>("s_cmpk_ge_i32",
                                                                                             kImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = static_cast<i32>(a) < static_cast<i32>(k); }>("s_cmpk_lt_i32",
                                                                                            kImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = static_cast<i32>(a) <= static_cast<i32>(k); }>("s_cmpk_le_i32",
                                                                                             kImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a == k; }>("s_cmpk_eq_u32", kUnsignedImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a != k; }>("s_cmpk_lg_u32", kUnsignedImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a > k; }>("s_cmpk_gt_u32", kUnsignedImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a >= k; }>("s_cmpk_ge_u32", kUnsignedImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a < k; }>("s_cmpk_lt_u32", kUnsignedImmediate),
    scalar<[](u32 a, u32 k, u32& scc) { scc = a <= k; }>("s_cmpk_le_u32", kUnsignedImmediate),
};

}  // namespace

std::span<const Entry> scalar_entries() { return kEntries; }

}  // namespace monojit::emulator
