// From a function over one lane's values to handlers over 64 lanes.
//
// The types of the function's parameters say how a source lies in registers (float: one row, u64: two, bool: a lane
// mask in a scalar pair), so a semantic is written once, as a lambda, and everything else follows from its signature.
// The loops are plain: the compiler vectorises them for the instruction set that this file is compiled for.
#pragma once

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include <immintrin.h>

#include "runtime/emulator/decode/entry.h"
#include "runtime/emulator/execute/half.h"
#include "runtime/emulator/execute/lane_mode.h"
#include "runtime/emulator/execute/mode.h"
#include "runtime/emulator/execute/wave.h"
#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/numerics/host_isa.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

/// Parameters of a semantic that are no registers: op_sel bits of the instruction, the wave's MODE, the lane's number.
struct Select {
  u32 bits;
  [[gnu::always_inline]] bool bit(u32 index) const { return (bits >> index & 1) != 0; }
};
struct LaneIndex {
  u32 value;
};

/// An f32 as its bits, for operations that the host has no instruction for: unlike a plain u32 it obeys MODE's flush of
/// input denormals.
struct Single {
  u32 bits;
};

template <class T>
inline constexpr bool kIsRegister =
    !std::is_same_v<T, Select> && !std::is_base_of_v<Mode, T> && !std::is_same_v<T, LaneIndex>;

/// Stands for "no mask besides the value".
struct NoMask {};

MONOJIT_EMULATOR_INLINE void store_masked(u32* destination, const u32* source, u64 lanes) {
#if defined(__AVX512F__)
  for (u32 i = 0; i < 4; ++i) {
    _mm512_mask_store_epi32(destination + 16 * i, static_cast<__mmask16>(lanes >> (16 * i)),
                            _mm512_load_si512(source + 16 * i));
  }
#else
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (u32 i = 0; i < 8; ++i) {
    const __m256i lane_bits = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes >> (8 * i) & 0xff)), bits);
    _mm256_maskstore_epi32(reinterpret_cast<int*>(destination + 8 * i), _mm256_cmpeq_epi32(lane_bits, bits),
                           _mm256_load_si256(reinterpret_cast<const __m256i*>(source + 8 * i)));
  }
#endif
}

/// A row with all ones in the lanes of a mask, zero elsewhere.
MONOJIT_EMULATOR_INLINE void expand_mask(u32* row, u64 lanes) {
#if defined(__AVX512F__)
  for (u32 i = 0; i < 4; ++i) {
    _mm512_store_si512(row + 16 * i, _mm512_maskz_set1_epi32(static_cast<__mmask16>(lanes >> (16 * i)), -1));
  }
#else
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (u32 i = 0; i < 8; ++i) {
    const __m256i lane_bits = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes >> (8 * i) & 0xff)), bits);
    _mm256_store_si256(reinterpret_cast<__m256i*>(row + 8 * i), _mm256_cmpeq_epi32(lane_bits, bits));
  }
#endif
}

/// The lanes whose word has its sign bit set.
MONOJIT_EMULATOR_INLINE u64 collect_mask(const u32* row) {
  u64 lanes = 0;
#if defined(__AVX512DQ__)
  for (u32 i = 0; i < 4; ++i) lanes |= u64{_mm512_movepi32_mask(_mm512_load_si512(row + 16 * i))} << (16 * i);
#else
  for (u32 i = 0; i < 8; ++i) {
    const __m256 words = _mm256_load_ps(reinterpret_cast<const float*>(row + 8 * i));
    lanes |= static_cast<u64>(static_cast<u32>(_mm256_movemask_ps(words))) << (8 * i);
  }
#endif
  return lanes;
}

template <class T>
struct RowOperand {
  const u32* rows;
  MONOJIT_EMULATOR_INLINE T at(u32 lane) const {
    if constexpr (std::is_same_v<T, bool>) {
      return rows[lane] != 0;
    } else if constexpr (sizeof(T) == 8) {
      return std::bit_cast<T>(u64{rows[lane]} | u64{rows[kLanes + lane]} << 32);
    } else if constexpr (sizeof(T) == 4) {
      return std::bit_cast<T>(rows[lane]);
    } else {
      return std::bit_cast<T>(static_cast<u16>(rows[lane]));
    }
  }
};

template <class T>
struct PlainMode {
  MONOJIT_EMULATOR_INLINE T at(u32) const { return {}; }
};

MONOJIT_EMULATOR_INLINE Half flushed(Half x) { return {static_cast<u16>(numerics::flush_denormal_f16(x.bits))}; }
MONOJIT_EMULATOR_INLINE HalfPair flushed(HalfPair x) {
  return {u32{flushed(x.low()).bits} | u32{flushed(x.high()).bits} << 16};
}
MONOJIT_EMULATOR_INLINE Single flushed(Single x) { return {numerics::flush_denormal(x.bits)}; }

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, HalfPair>;

/// A source whose denormals MODE may flush.
template <class Inner>
struct FlushingOperand {
  Inner inner;
  bool flush;
  MONOJIT_EMULATOR_INLINE auto at(u32 lane) const {
    const auto value = inner.at(lane);
    return flush ? flushed(value) : value;
  }
};

struct LaneOperand {
  MONOJIT_EMULATOR_INLINE LaneIndex at(u32 lane) const { return {lane}; }
};

template <class T>
struct ScalarOperand {
  T value;
  MONOJIT_EMULATOR_INLINE T at(u32) const { return value; }
};

template <class T, bool kIsRow, bool kPlain>
MONOJIT_EMULATOR_INLINE auto read_operand(Wave& wave, [[maybe_unused]] const MicroOp* op, [[maybe_unused]] u32 offset,
                                          [[maybe_unused]] u32 staging) {
  if constexpr (std::is_same_v<T, Select>) {
    return ScalarOperand<Select>{{op->aux}};
  } else if constexpr (std::is_same_v<T, LaneIndex>) {
    return LaneOperand{};
  } else if constexpr (std::is_base_of_v<Mode, T>) {
    if constexpr (kPlain) {
      return PlainMode<T>{};
    } else {
      return ScalarOperand<T>{T{Mode::of(wave)}};
    }
  } else if constexpr ((kIsHalf<T> || std::is_same_v<T, Single>) && !kPlain) {
    const auto inner = read_operand<T, kIsRow, true>(wave, op, offset, staging);
    const Mode mode = Mode::of(wave);
    return FlushingOperand<std::remove_const_t<decltype(inner)>>{inner, kIsHalf<T> ? mode.flush_in16 : mode.flush_in32};
  } else if constexpr (std::is_same_v<T, bool>) {
    u32* const expanded = wave.worker->staging[staging];
    expand_mask(expanded, wave.pair(offset));
    return RowOperand<bool>{expanded};
  } else if constexpr (kIsRow) {
    return RowOperand<T>{wave.row(offset)};
  } else {
    T value;
    std::memcpy(&value, wave.registers + offset, sizeof value);
    return ScalarOperand<T>{value};
  }
}

template <bool kPlain, class T>
MONOJIT_EMULATOR_INLINE void put(u32* rows, u32 lane, T value, [[maybe_unused]] Mode mode) {
  if constexpr (std::is_same_v<T, HalfResult>) {
    rows[lane] = (kPlain ? rounded_plainly(value) : rounded(value, mode)).bits;
  } else if constexpr (std::is_same_v<T, HalfPairResult>) {
    put<kPlain>(rows, lane,
                kPlain ? u32{rounded_plainly(value.low).bits} | u32{rounded_plainly(value.high).bits} << 16
                       : u32{rounded(value.low, mode).bits} | u32{rounded(value.high, mode).bits} << 16,
                mode);
  } else if constexpr (sizeof(T) == 8) {
    const u64 bits = std::bit_cast<u64>(value);
    rows[lane] = static_cast<u32>(bits);
    rows[kLanes + lane] = static_cast<u32>(bits >> 32);
  } else if constexpr (sizeof(T) == 4) {
    rows[lane] = std::bit_cast<u32>(value);
  } else {
    rows[lane] = std::bit_cast<u16>(value);
  }
}

inline constexpr u32 kResultStaging = 0;    // two rows
inline constexpr u32 kMaskStaging = 2;      // mask results
inline constexpr u32 kFirstMaskSource = 3;  // by source: the mask may be any of the first four
static_assert(kFirstMaskSource + 4 <= kStagingRows);

template <class T>
inline constexpr bool kNeedsTwoRows = sizeof(T) == 8 && !std::is_same_v<T, HalfPairResult>;

/// What of an operation's sources and results are f64: these follow another part of MODE than the rest.
template <class Result, class... Sources>
inline constexpr bool kUsesDoubles = std::is_same_v<Result, double> || (std::is_same_v<Sources, double> || ...);

/// What depends on MODE in more than the host's own rounding and flushing.
template <class T>
inline constexpr bool kObeysMode = kIsHalf<T> || std::is_same_v<T, Single> || std::is_base_of_v<Mode, T> ||
                                   std::is_same_v<T, HalfResult> || std::is_same_v<T, HalfPairResult>;

template <auto kFunction, auto kMask, u32 kRowSources, bool kPlain, class Result, class... Sources,
          std::size_t... kIndex>
MONOJIT_EMULATOR_INLINE void run_lanes(Wave& wave, const MicroOp* op, Result (*)(Sources...),
                                       std::index_sequence<kIndex...>) {
  constexpr bool kHasMask = !std::is_same_v<decltype(kMask), NoMask>;
  const u32 offsets[] = {op->a, op->b, op->c, op->imm, 0, 0};
  const Mode mode = kPlain ? Mode{} : Mode::of(wave);
  const auto sources = std::make_tuple(read_operand<Sources, (kRowSources >> kIndex & 1) != 0, kPlain>(
      wave, op, offsets[kIndex], kFirstMaskSource + kIndex)...);
  const u64 exec = wave.exec();
  u32* const masks = static_cast<u32*>(__builtin_assume_aligned(wave.worker->staging[kMaskStaging], kRowAlignment));
  if constexpr (std::is_same_v<Result, bool>) {
#pragma GCC ivdep
    for (u32 i = 0; i < kLanes; ++i) masks[i] = kFunction(std::get<kIndex>(sources).at(i)...) ? ~0u : 0u;
    wave.set_pair(op->dst, collect_mask(masks) & exec);
  } else {
    const bool full = exec == ~u64{0};
    u32* const destination = wave.row(op->dst);
    u32* const staged = wave.worker->staging[kResultStaging];
    u32* const out = static_cast<u32*>(__builtin_assume_aligned(full ? destination : staged, kRowAlignment));
#pragma GCC ivdep
    for (u32 i = 0; i < kLanes; ++i) {
      // The mask first: the destination may be a source.
      if constexpr (kHasMask) masks[i] = kMask(std::get<kIndex>(sources).at(i)...) ? ~0u : 0u;
      put<kPlain, Result>(out, i, kFunction(std::get<kIndex>(sources).at(i)...), mode);
    }
    if constexpr (kHasMask) wave.set_pair(op->aux, collect_mask(masks) & exec);
    if (!full) {
      store_masked(destination, staged, exec);
      if constexpr (kNeedsTwoRows<Result>) store_masked(destination + kLanes, staged + kLanes, exec);
    }
  }
}

template <auto kFunction, auto kMask, u32 kRowSources, bool kPlain, class Result, class... Sources>
[[gnu::noinline]] void run_lanes_apart(Wave& wave, const MicroOp* op, Result (*signature)(Sources...)) {
  run_lanes<kFunction, kMask, kRowSources, kPlain>(wave, op, signature, std::index_sequence_for<Sources...>{});
}

/// The same with another MXCSR.
template <auto kFunction, auto kMask, u32 kRowSources, bool kPlain, class Result, class... Sources>
void run_lanes_under(u32 host_mode, Wave& wave, const MicroOp* op, Result (*signature)(Sources...)) {
  _mm_setcsr(host_mode);
  run_lanes_apart<kFunction, kMask, kRowSources, kPlain>(wave, op, signature);
  _mm_setcsr(wave.host_mode32);
}

template <auto kFunction, auto kMask, u32 kRowSources, class Result, class... Sources>
MONOJIT_EMULATOR_INLINE void run_signature(Wave& wave, const MicroOp* op, Result (*signature)(Sources...)) {
  constexpr bool kDoubles = kUsesDoubles<Result, Sources...>;
  constexpr bool kHalves = (kIsHalf<Sources> || ...);
  constexpr bool kNearest = (std::is_same_v<Sources, NearestMode> || ...);
  if constexpr (kObeysMode<Result> || (kObeysMode<Sources> || ...)) {
    if (!wave.plain_mode) [[unlikely]] {
      const u32 host_mode = kNearest   ? kHostModeDefault
                            : kDoubles ? wave.host_mode64
                            : kHalves  ? wave.host_mode16
                                       : wave.host_mode32;
      return run_lanes_under<kFunction, kMask, kRowSources, false>(host_mode, wave, op, signature);
    }
  } else if constexpr (kDoubles) {
    if (wave.host_mode64 != wave.host_mode32) [[unlikely]] {
      return run_lanes_under<kFunction, kMask, kRowSources, true>(wave.host_mode64, wave, op, signature);
    }
  }
  run_lanes<kFunction, kMask, kRowSources, true>(wave, op, signature, std::index_sequence_for<Sources...>{});
}

// Flat, because a semantic that stays a call keeps its loop from becoming vector code.
template <auto kFunction, auto kMask, u32 kRowSources>
[[gnu::flatten]] void vector_handler(Wave& wave, const MicroOp* op) {
  run_signature<kFunction, kMask, kRowSources>(wave, op, +kFunction);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

template <class T>
consteval OperandType operand_type() {
  if constexpr (std::is_same_v<T, bool>) {
    return OperandType::kMask;
  } else if constexpr (std::is_same_v<T, double>) {
    return OperandType::kF64;
  } else if constexpr (std::is_same_v<T, HalfResult>) {
    return OperandType::k16;
  } else if constexpr (std::is_same_v<T, HalfPairResult>) {
    return OperandType::k32;
  } else if constexpr (sizeof(T) == 8) {
    return OperandType::k64;
  } else if constexpr (sizeof(T) == 4) {
    return OperandType::k32;
  } else {
    return OperandType::k16;
  }
}

/// Handlers for each useful set of row sources: all of one source; with more, those with at least one row.
template <auto kFunction, auto kMask, class Result, class... Sources>
consteval void fill_vector_entry(Entry& entry, Result (*)(Sources...)) {
  constexpr u32 kRegisters = ((kIsRegister<Sources> ? 1 : 0) + ... + 0);
  constexpr u32 kValueSources = ((kIsRegister<Sources> && !std::is_same_v<Sources, bool> ? 1 : 0) + ... + 0);
  constexpr std::array<OperandType, sizeof...(Sources)> kTypes{operand_type<Sources>()...};
  static_assert(kRegisters <= 4);
  entry.source_count = kRegisters;
  for (u32 i = 0; i < kRegisters; ++i) entry.sources[i] = kTypes[i];
  static_assert(kValueSources <= 3, "mask sources come last");
  if constexpr (!std::is_same_v<Result, bool>) entry.result = operand_type<Result>();
  entry.mask_result = std::is_same_v<Result, bool> || !std::is_same_v<decltype(kMask), NoMask>;
  [&]<std::size_t... kSets>(std::index_sequence<kSets...>) {
    ((entry.handlers[kSets] = kValueSources == 1 || kSets != 0 ? &vector_handler<kFunction, kMask, kSets> : nullptr),
     ...);
  }(std::make_index_sequence<std::size_t{1} << kValueSources>{});
}

/// A table row for a vector operation given as captureless lambdas over one lane: the value (or a comparison's
/// outcome), and optionally the bit of a lane mask that the operation writes besides.
template <auto kFunction, auto kMask = NoMask{}>
consteval Entry vector(std::string_view mnemonic, u16 flags = 0) {
  Entry entry{.mnemonic = mnemonic, .form = Form::kVector, .flags = flags, .count = CountClass::kVector};
  fill_vector_entry<kFunction, kMask>(entry, +kFunction);
  if (entry.result == OperandType::kNone) entry.form = Form::kCompare;
  return entry;
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
