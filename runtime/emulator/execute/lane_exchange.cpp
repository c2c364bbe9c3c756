// Data that crosses lanes: DPP, ds_bpermute, permlane swaps, readlane and its kin.
#include "runtime/emulator/decode/program.h"
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

/// out[i] = source[lanes[i] % 64]; out must not be source.
MONOJIT_EMULATOR_INLINE void permute(u32* out, const u32* source, const u32* lanes) {
#if defined(__AVX512F__)
  const __m512i s0 = _mm512_load_si512(source), s1 = _mm512_load_si512(source + 16);
  const __m512i s2 = _mm512_load_si512(source + 32), s3 = _mm512_load_si512(source + 48);
  const __m512i upper = _mm512_set1_epi32(32);
  for (u32 i = 0; i < kLanes; i += 16) {
    const __m512i index = _mm512_loadu_si512(lanes + i);
    const __m512i low = _mm512_permutex2var_epi32(s0, index, s1);
    const __m512i high = _mm512_permutex2var_epi32(s2, index, s3);
    _mm512_store_si512(out + i, _mm512_mask_mov_epi32(low, _mm512_test_epi32_mask(index, upper), high));
  }
#else
  for (u32 i = 0; i < kLanes; ++i) out[i] = source[lanes[i] % kLanes];
#endif
}

/// The lanes of `exec` seen through a permutation: which lanes read an active one.
MONOJIT_EMULATOR_INLINE u64 permuted_mask(Worker& worker, u64 exec, const u32* lanes) {
  if (exec == ~u64{0}) return exec;
  expand_mask(worker.staging[4], exec);
  permute(worker.staging[5], worker.staging[4], lanes);
  return collect_mask(worker.staging[5]);
}

/// dst (a temporary) = a through the permutation imm; lanes without a source get 0. Returns the lanes that may be
/// written.
MONOJIT_EMULATOR_INLINE u64 move_dpp(Wave& wave, const MicroOp* op, u32* out) {
  const LanePermutation& permutation = *wave.program->permutations[op->imm];
  const u64 valid = permutation.valid & permuted_mask(*wave.worker, wave.exec(), permutation.source);
  permute(out, wave.row(op->a), permutation.source);
  if (valid != ~u64{0}) {
    u32* const keep = wave.worker->staging[4];
    expand_mask(keep, valid);
    for (u32 i = 0; i < kLanes; ++i) out[i] &= keep[i];
  }
  return permutation.written & (permutation.zero_fill ? ~u64{0} : valid);
}

/// v_mov_b32_dpp in one step.
void mov_dpp(Wave& wave, const MicroOp* op) {
  u32* const staged = wave.worker->staging[kResultStaging];
  const u64 written = move_dpp(wave, op, staged);
  store_masked(wave.row(op->dst), staged, written & wave.exec());
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// The moved source goes to the temporary row dst; EXEC, saved in the pair b, shrinks to the lanes that may be written.
void begin_dpp(Wave& wave, const MicroOp* op) {
  const u64 written = move_dpp(wave, op, wave.row(op->dst));
  const u64 exec = wave.exec();
  wave.set_pair(op->b, exec);
  wave.set_pair(scalar_offset(kExecWord), exec & written);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// The second row of a 64-bit source: moved like the first, whose begin_dpp has changed EXEC already.
void move_dpp_high(Wave& wave, const MicroOp* op) {
  permute(wave.row(op->dst), wave.row(op->a), wave.program->permutations[op->imm]->source);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void end_dpp(Wave& wave, const MicroOp* op) {
  wave.set_pair(scalar_offset(kExecWord), wave.pair(op->b));
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Lane (address + offset)/4 of the data; inactive source lanes give 0.
void ds_bpermute(Wave& wave, const MicroOp* op) {
  u32* const lanes = wave.worker->staging[2];
  u32* const staged = wave.worker->staging[kResultStaging];
  const u32* const address = wave.row(op->a);
  for (u32 i = 0; i < kLanes; ++i) lanes[i] = (address[i] + op->imm) >> 2 & 63;
  const u64 exec = wave.exec();
  permute(staged, wave.row(op->b), lanes);
  if (exec == ~u64{0}) {
    std::memcpy(wave.row(op->dst), staged, kRowBytes);
  } else {
    u32* const keep = wave.worker->staging[3];
    expand_mask(keep, permuted_mask(*wave.worker, exec, lanes));
    for (u32 i = 0; i < kLanes; ++i) staged[i] &= keep[i];
    store_masked(wave.row(op->dst), staged, exec);
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Pushes instead of pulling; of lanes that hit the same target the highest wins.
void ds_permute(Wave& wave, const MicroOp* op) {
  u32* const staged = wave.worker->staging[kResultStaging];
  for (u32 i = 0; i < kLanes; ++i) staged[i] = 0;
  const u64 exec = wave.exec();
  for (u64 lanes = exec; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    staged[(wave.row(op->a)[lane] + op->imm) >> 2 & 63] = wave.row(op->b)[lane];
  }
  store_masked(wave.row(op->dst), staged, exec);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Source lane of ds_swizzle: FFT order (from 0xE000), rotation (from 0xC000), quad permutation (bit 15) or bit masks,
/// inside each half wave.
MONOJIT_EMULATOR_INLINE u32 swizzled_lane(u32 lane, u32 offset) {
  if (offset >= 0xe000) {
    const u32 mask = offset & 31;
    u32 reversed = 0;
    for (u32 bit = 0; bit < 5; ++bit) reversed |= (lane >> bit & 1) << (4 - bit);
    return (lane & 32) | (lane & mask) | reversed >> __builtin_popcount(mask);
  }
  if ((offset & 0xe000) == 0xc000) {
    const u32 distance = offset >> 5 & 31, mask = offset & 31;
    const u32 moved = (offset >> 10 & 1) != 0 ? lane - distance : lane + distance;
    return (lane & 32) | (lane & mask) | (moved & 31 & ~mask);
  }
  if ((offset & 0x8000) != 0) return (lane & ~3u) | (offset >> (2 * (lane & 3)) & 3);
  const u32 keep = offset & 31, set = offset >> 5 & 31, flip = offset >> 10 & 31;
  return (lane & 32) | ((((lane & 31) & keep) | set) ^ flip);
}

void ds_swizzle(Wave& wave, const MicroOp* op) {
  u32* const staged = wave.worker->staging[kResultStaging];
  const u64 exec = wave.exec();
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 source = swizzled_lane(i, op->imm);
    staged[i] = (exec >> source & 1) != 0 ? wave.row(op->a)[source] : 0;
  }
  store_masked(wave.row(op->dst), staged, exec);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

/// Exchanges blocks of kBlock lanes: the odd ones of the first register with the even ones of the second.
template <u32 kBlock>
void permlane_swap(Wave& wave, const MicroOp* op) {
  u32* const first = wave.row(op->dst);
  u32* const second = wave.row(op->a);
  for (u32 lane = 0; lane < kLanes; lane += 2 * kBlock) {
    for (u32 i = 0; i < kBlock; ++i) {
      const u32 saved = first[lane + kBlock + i];
      first[lane + kBlock + i] = second[lane + i];
      second[lane + i] = saved;
    }
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void swap(Wave& wave, const MicroOp* op) {
  u32* const staged = wave.worker->staging[kResultStaging];
  std::memcpy(staged, wave.row(op->dst), kRowBytes);
  const u64 exec = wave.exec();
  store_masked(wave.row(op->dst), wave.row(op->a), exec);
  store_masked(wave.row(op->a), staged, exec);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void read_first_lane(Wave& wave, const MicroOp* op) {
  const u64 exec = wave.exec();
  wave.word(op->dst) = wave.row(op->a)[exec == 0 ? 0 : __builtin_ctzll(exec)];
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void read_lane(Wave& wave, const MicroOp* op) {
  wave.word(op->dst) = wave.row(op->a)[wave.word(op->b) % kLanes];
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void write_lane(Wave& wave, const MicroOp* op) {
  wave.row(op->dst)[wave.word(op->b) % kLanes] = wave.word(op->a);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

MONOJIT_EMULATOR_INLINE u32 population(u32 x) {
  x -= x >> 1 & 0x55555555;
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

consteval Entry exchange(std::string_view mnemonic, CountClass count, Handler handler) {
  return {.mnemonic = mnemonic, .form = Form::kHandler, .count = count, .handlers = {handler}};
}

constexpr Entry kEntries[] = {
    exchange(".mov_dpp", CountClass::kVector, mov_dpp),
    exchange(".begin_dpp", CountClass::kVector, begin_dpp),
    exchange(".move_dpp_high", CountClass::kVector, move_dpp_high),
    exchange(".end_dpp", CountClass::kVector, end_dpp),
    exchange("ds_bpermute_b32", CountClass::kLds, ds_bpermute),
    exchange("ds_permute_b32", CountClass::kLds, ds_permute),
    exchange("ds_swizzle_b32", CountClass::kLds, ds_swizzle),
    exchange("v_permlane16_swap_b32", CountClass::kVector, permlane_swap<16>),
    exchange("v_permlane32_swap_b32", CountClass::kVector, permlane_swap<32>),
    exchange("v_swap_b32", CountClass::kVector, swap),
    exchange("v_readfirstlane_b32", CountClass::kVector, read_first_lane),
    exchange("v_readlane_b32", CountClass::kVector, read_lane),
    exchange("v_writelane_b32", CountClass::kVector, write_lane),
    vector<[](u32 mask, u32 base, LaneIndex lane) {
      const u32 below = lane.value >= 32 ? ~0u : (1u << lane.value) - 1;
      return population(mask & below) + base;
    }>("v_mbcnt_lo_u32_b32"),
    vector<[](u32 mask, u32 base, LaneIndex lane) {
      const u32 below = lane.value < 32 ? 0 : (1u << (lane.value & 31)) - 1;
      return population(mask & below) + base;
    }>("v_mbcnt_hi_u32_b32"),
};

}  // namespace

std::span<const Entry> lane_exchange_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
