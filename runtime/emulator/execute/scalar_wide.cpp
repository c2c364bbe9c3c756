// SOP1, SOP2, SOPC on 64 bits, and the operations that read and write EXEC.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/scalars.h"

namespace monojit::emulator {
namespace {

u64 with_scc(u64 result, u32& scc) {
  scc = result != 0;
  return result;
}

u64 field(u64 x, u32 selector) {
  const u32 offset = selector & 63;
  const u32 width = selector >> 16 & 127;
  return width == 0 ? 0 : width >= 64 ? x >> offset : x >> offset & ((u64{1} << width) - 1);
}

u64 signed_field(u64 x, u32 selector) {
  const u32 offset = selector & 63;
  const u32 width = selector >> 16 & 127;
  if (width == 0) return 0;
  if (width + offset >= 64) return static_cast<u64>(static_cast<i64>(x) >> offset);
  return static_cast<u64>(static_cast<i64>(x << (64 - width - offset)) >> (64 - width));
}

u32 leading_zeros(u64 x) { return x == 0 ? ~0u : static_cast<u32>(__builtin_clzll(x)); }
u32 trailing_zeros(u64 x) { return x == 0 ? ~0u : static_cast<u32>(__builtin_ctzll(x)); }

u64 reverse_bits(u64 x) {
  u64 result = 0;
  for (u32 i = 0; i < 64; ++i) result |= (x >> i & 1) << (63 - i);
  return result;
}

u64 whole_quads(u64 x) {
  u64 result = 0;
  for (u32 i = 0; i < 16; ++i) result |= ((x >> (4 * i) & 15) != 0 ? u64{15} : 0) << (4 * i);
  return result;
}

u64 quad_mask(u64 x) {
  u64 result = 0;
  for (u32 i = 0; i < 16; ++i) result |= ((x >> (4 * i) & 15) != 0 ? u64{1} : 0) << i;
  return result;
}

/// Every bit of the low word twice.
u64 replicate_bits(u32 x) {
  u64 result = 0;
  for (u32 i = 0; i < 32; ++i) result |= (u64{3} & (0 - (u64{x} >> i & 1))) << (2 * i);
  return result;
}

/// s_*_saveexec_b64: the destination gets EXEC, EXEC a combination of it with the source.
template <auto kFunction>
void save_exec(Wave& wave, const MicroOp* op) {
  const u64 source = wave.pair(op->a);
  const u64 exec = wave.exec();
  wave.set_pair(op->dst, exec);
  wave.set_pair(scalar_offset(kExecWord), with_scc(kFunction(source, exec), wave.scc()));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// s_*_wrexec_b64: EXEC and the destination get the combination.
template <auto kFunction>
void write_exec(Wave& wave, const MicroOp* op) {
  const u64 result = with_scc(kFunction(wave.pair(op->a), wave.exec()), wave.scc());
  wave.set_pair(scalar_offset(kExecWord), result);
  wave.set_pair(op->dst, result);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

consteval Entry exec_entry(std::string_view mnemonic, Handler handler) {
  return {.mnemonic = mnemonic,
          .form = Form::kScalar,
          .count = CountClass::kScalar,
          .result = OperandType::k64,
          .source_count = 1,
          .sources = {OperandType::k64},
          .handlers = {handler}};
}

constexpr Entry kEntries[] = {
    scalar<[](u64 a) { return a; }>("s_mov_b64"),
    scalar<[](u64 a, u64 old, u32& scc) { return scc != 0 ? a : old; }>("s_cmov_b64", kTied),
    scalar<[](u64 a, u64 b, u32& scc) { return scc != 0 ? a : b; }>("s_cselect_b64"),
    scalar<[](u64 a, u32& scc) { return with_scc(~a, scc); }>("s_not_b64"),
    scalar<[](u64 a, u32& scc) { return with_scc(whole_quads(a), scc); }>("s_wqm_b64"),
    scalar<[](u64 a, u32& scc) { return with_scc(quad_mask(a), scc); }>("s_quadmask_b64"),
    scalar<[](u64 a) { return reverse_bits(a); }>("s_brev_b64"),
    scalar<[](u64 a, u32& scc) {
      return static_cast<u32>(with_scc(64 - static_cast<u32>(__builtin_popcountll(a)), scc));
    }>("s_bcnt0_i32_b64"),
    scalar<[](u64 a, u32& scc) { return static_cast<u32>(with_scc(static_cast<u32>(__builtin_popcountll(a)), scc)); }>(
        "s_bcnt1_i32_b64"),
    scalar<[](u64 a) { return trailing_zeros(~a); }>("s_ff0_i32_b64"),
    scalar<[](u64 a) { return trailing_zeros(a); }>("s_ff1_i32_b64"),
    scalar<[](u64 a) { return leading_zeros(a); }>("s_flbit_i32_b64"),
    scalar<[](u64 a) { return leading_zeros(static_cast<i64>(a) < 0 ? ~a : a); }>("s_flbit_i32_i64"),
    scalar<[](u32 a, u64 old) { return old & ~(u64{1} << (a & 63)); }>("s_bitset0_b64", kTied),
    scalar<[](u32 a, u64 old) { return old | u64{1} << (a & 63); }>("s_bitset1_b64", kTied),
    scalar<[](u32 a) { return replicate_bits(a); }>("s_bitreplicate_b64_b32"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(a & b, scc); }>("s_and_b64"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(a | b, scc); }>("s_or_b64"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(a ^ b, scc); }>("s_xor_b64"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(a & ~b, scc); }>("s_andn2_b64"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(a | ~b, scc); }>("s_orn2_b64"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(~(a & b), scc); }>("s_nand_b64"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(~(a | b), scc); }>("s_nor_b64"),
    scalar<[](u64 a, u64 b, u32& scc) { return with_scc(~(a ^ b), scc); }>("s_xnor_b64"),
    scalar<[](u64 a, u32 b, u32& scc) { return with_scc(a << (b & 63), scc); }>("s_lshl_b64"),
    scalar<[](u64 a, u32 b, u32& scc) { return with_scc(a >> (b & 63), scc); }>("s_lshr_b64"),
    scalar<[](u64 a, u32 b, u32& scc) { return with_scc(static_cast<u64>(static_cast<i64>(a) >> (b & 63)), scc); }>(
        "s_ashr_i64"),
    scalar<[](u32 a, u32 b) { return ((u64{1} << (a & 63)) - 1) << (b & 63); }>("s_bfm_b64"),
    scalar<[](u64 a, u32 b, u32& scc) { return with_scc(field(a, b), scc); }>("s_bfe_u64"),
    scalar<[](u64 a, u32 b, u32& scc) { return with_scc(signed_field(a, b), scc); }>("s_bfe_i64"),
    scalar<[](u64 a, u64 b, u32& scc) { scc = a == b; }>("s_cmp_eq_u64"),
    scalar<[](u64 a, u64 b, u32& scc) { scc = a != b; }>("s_cmp_lg_u64"),
    scalar<[](u64 a, u32 b, u32& scc) { scc = (a >> (b & 63) & 1) == 0; }>("s_bitcmp0_b64"),
    scalar<[](u64 a, u32 b, u32& scc) { scc = (a >> (b & 63) & 1) != 0; }>("s_bitcmp1_b64"),

    exec_entry("s_and_saveexec_b64", save_exec<[](u64 s, u64 exec) { return s & exec; }>),
    exec_entry("s_or_saveexec_b64", save_exec<[](u64 s, u64 exec) { return s | exec; }>),
    exec_entry("s_xor_saveexec_b64", save_exec<[](u64 s, u64 exec) { return s ^ exec; }>),
    exec_entry("s_andn2_saveexec_b64", save_exec<[](u64 s, u64 exec) { return s & ~exec; }>),
    exec_entry("s_orn2_saveexec_b64", save_exec<[](u64 s, u64 exec) { return s | ~exec; }>),
    exec_entry("s_nand_saveexec_b64", save_exec<[](u64 s, u64 exec) { return ~(s & exec); }>),
    exec_entry("s_nor_saveexec_b64", save_exec<[](u64 s, u64 exec) { return ~(s | exec); }>),
    exec_entry("s_xnor_saveexec_b64", save_exec<[](u64 s, u64 exec) { return ~(s ^ exec); }>),
    exec_entry("s_andn1_saveexec_b64", save_exec<[](u64 s, u64 exec) { return ~s & exec; }>),
    exec_entry("s_orn1_saveexec_b64", save_exec<[](u64 s, u64 exec) { return ~s | exec; }>),
    exec_entry("s_andn1_wrexec_b64", write_exec<[](u64 s, u64 exec) { return ~s & exec; }>),
    exec_entry("s_andn2_wrexec_b64", write_exec<[](u64 s, u64 exec) { return s & ~exec; }>),
};

}  // namespace

std::span<const Entry> scalar_wide_entries() { return kEntries; }

}  // namespace monojit::emulator
