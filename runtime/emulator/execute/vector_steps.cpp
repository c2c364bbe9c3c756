// Steps that odd instructions are split into. They work on temporary rows in all lanes, whatever EXEC says, except
// those that end in an instruction's own destination.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/half.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/execute/step_flags.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

template <class Function>
MONOJIT_EMULATOR_INLINE void for_lanes(Function function) {
#pragma GCC ivdep
  for (u32 i = 0; i < kLanes; ++i) function(i);
}

/// A scalar in all lanes of a row.
void broadcast(Wave& wave, const MicroOp* op) {
  u32* const out = wave.row(op->dst);
  const u32 value = wave.word(op->a);
  for_lanes([&](u32 i) { out[i] = value; });
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Negation and absolute value: (a & imm) ^ aux.
void modify(Wave& wave, const MicroOp* op) {
  u32* const out = wave.row(op->dst);
  const u32* const a = wave.row(op->a);
  const u32 keep = op->imm, flip = op->aux;
  for_lanes([&](u32 i) { out[i] = (a[i] & keep) ^ flip; });
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Sets a scalar pair to whether the pair a is zero.
void read_zero(Wave& wave, const MicroOp* op) {
  wave.set_pair(op->dst, wave.pair(op->a) == 0 ? 1 : 0);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void modify_scalar(Wave& wave, const MicroOp* op) {
  wave.word(op->dst) = (wave.word(op->a) & op->imm) ^ op->aux;
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// A field of each word, extended: imm bits 0..4 first bit, 5..10 width, 11 signed.
void extract(Wave& wave, const MicroOp* op) {
  u32* const out = wave.row(op->dst);
  const u32* const a = wave.row(op->a);
  const u32 left = 32 - (op->imm & 31) - (op->imm >> 5 & 63);
  const u32 right = 32 - (op->imm >> 5 & 63);
  if ((op->imm >> 11 & 1) != 0) {
    for_lanes([&](u32 i) { out[i] = static_cast<u32>(static_cast<i32>(a[i] << left) >> right); });
  } else {
    for_lanes([&](u32 i) { out[i] = a[i] << left >> right; });
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Halves of a packed source: imm bit 0 takes the high half for the low result, bit 1 for the high one; aux flips
/// signs.
void arrange_halves(Wave& wave, const MicroOp* op) {
  u32* const out = wave.row(op->dst);
  const u32* const a = wave.row(op->a);
  const u32 low = (op->imm & 1) != 0 ? 16 : 0;
  const u32 high = (op->imm & 2) != 0 ? 16 : 0;
  const u32 flip = op->aux;
  for_lanes([&](u32 i) { out[i] = ((a[i] >> low & 0xffff) | a[i] >> high << 16) ^ flip; });
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Puts the low bits of a into a field of dst, in active lanes: imm first bit, aux as step_flags.h says.
void insert(Wave& wave, const MicroOp* op) {
  u32* const staged = wave.worker->staging[kResultStaging];
  const u32* const a = wave.row(op->a);
  const u32* const old = wave.row(op->dst);
  const u32 shift = op->imm, width = op->aux & kInsertWidthMask;
  const u32 mask = (width == 32 ? ~0u : (1u << width) - 1) << shift;
  if ((op->aux & kInsertKeepsRest) != 0) {
    for_lanes([&](u32 i) { staged[i] = (old[i] & ~mask) | (a[i] << shift & mask); });
  } else if ((op->aux & kInsertExtendsSign) != 0) {
    const u32 left = 32 - width;
    for_lanes([&](u32 i) { staged[i] = static_cast<u32>(static_cast<i32>(a[i] << left) >> left) << shift; });
  } else {
    for_lanes([&](u32 i) { staged[i] = a[i] << shift & mask; });
  }
  store_masked(wave.row(op->dst), staged, wave.exec());
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// x times 2, 4 or 1/2. Hardware leaves output modifiers out in IEEE mode and where denormal results are kept.
template <class T>
MONOJIT_EMULATOR_INLINE T modified(T x, Select omod, bool possible) {
  const T factor = omod.bits == 1 ? T{2} : omod.bits == 2 ? T{4} : T{1} / T{2};
  return possible ? x * factor + T{0} : x;
}

/// To [0, 1]. A NaN becomes 0 with DX10_CLAMP, else it stays.
template <class T>
MONOJIT_EMULATOR_INLINE T clamped(T x, Mode mode) {
  const T limited = x > T{1} ? T{1} : x > T{0} ? x : T{0};
  return !mode.dx10_clamp & (x != x) ? x : limited;
}

consteval Entry step(std::string_view name, Handler handler) {
  return {.mnemonic = name, .form = Form::kHandler, .handlers = {handler}};
}

constexpr Entry kEntries[] = {
    step(".broadcast", broadcast),
    step(".modify", modify),
    step(".modify_scalar", modify_scalar),
    step(".read_zero", read_zero),
    step(".extract", extract),
    step(".arrange_halves", arrange_halves),
    step(".insert", insert),
    vector<[](float a, Select omod, Mode mode) { return modified(a, omod, !mode.ieee & mode.flush_out32); }>(
        ".omod_f32"),
    vector<[](Half a, Select omod, Mode mode) {
      return HalfResult{modified(widen(a), omod, !mode.ieee & mode.flush_out16)};
    }>(".omod_f16"),
    vector<[](double a, Select omod, Mode mode) { return modified(a, omod, !mode.ieee & mode.flush_out16); }>(
        ".omod_f64"),
    vector<[](float a, Mode mode) { return clamped(a, mode); }>(".clamp_f32"),
    vector<[](Half a, Mode mode) { return HalfResult{clamped(widen(a), mode)}; }>(".clamp_f16"),
    vector<[](double a, Mode mode) { return clamped(a, mode); }>(".clamp_f64"),
    vector<[](HalfPair a, Select omod, Mode mode) {
      const bool possible = !mode.ieee & mode.flush_out16;
      return HalfPairResult{{modified(widen(a.low()), omod, possible)}, {modified(widen(a.high()), omod, possible)}};
    }>(".omod_pk_f16"),
    vector<[](u32 a, Mode mode) {
      const auto half = [&](u32 bits) { return numerics::as_bits(clamped(numerics::as_float(bits), mode)) >> 16; };
      return half(a << 16) | half(a & 0xffff0000) << 16;
    }>(".clamp_pk_bf16"),
    vector<[](HalfPair a, Mode mode) {
      return HalfPairResult{{clamped(widen(a.low()), mode)}, {clamped(widen(a.high()), mode)}};
    }>(".clamp_pk_f16"),
};

}  // namespace

std::span<const Entry> vector_step_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
