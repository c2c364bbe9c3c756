// What one lane moves between its registers and memory: loads, stores and atomics of every width.
//
// An access type has kBytes (of one lane), kParts (registers that a buffer's range check treats one by one), kKind,
// move() for a lane, move_part() and move_pair() for one and two of its parts, and move_all() where all 64 lanes
// together go faster.
#pragma once

#include <cstring>
#include <type_traits>

#include <immintrin.h>

#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/execute/lane_transpose.h"
#include "runtime/emulator/numerics/host_isa.h"
#include "runtime/emulator/types.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

template <class T>
MONOJIT_EMULATOR_INLINE T load_as(const u8* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}
template <class T>
MONOJIT_EMULATOR_INLINE void store_as(u8* memory, T value) {
  std::memcpy(memory, &value, sizeof value);
}

/// 8 and 16 bytes in one step. The barriers keep the compiler from splitting it: of a vector that is only used word by
/// word GCC reads the words, the second before the first.
MONOJIT_EMULATOR_INLINE u64 load_pair(const u8* memory) {
  u64 pair = load_as<u64>(memory);
  asm("" : "+r"(pair));
  return pair;
}
MONOJIT_EMULATOR_INLINE void store_pair(u8* memory, u32 low, u32 high) {
  u64 pair = u64{low} | u64{high} << 32;
  asm("" : "+r"(pair));
  store_as(memory, pair);
}
MONOJIT_EMULATOR_INLINE __m128i load_quad(const u8* memory) {
  __m128i quad = _mm_loadu_si128(reinterpret_cast<const __m128i*>(memory));
  asm("" : "+x"(quad));
  return quad;
}
MONOJIT_EMULATOR_INLINE void store_quad(u8* memory, __m128i quad) {
  asm("" : "+x"(quad));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(memory), quad);
}

/// u8, i8, u16, i16 to a whole register.
template <class T>
struct LoadNarrow {
  static constexpr u32 kBytes = sizeof(T);
  static constexpr u32 kParts = 1;
  static constexpr AccessKind kKind = AccessKind::kLoad;
  MONOJIT_EMULATOR_INLINE static void move(u32* result, const u32*, u32 lane, u8* memory) {
    result[lane] = static_cast<u32>(static_cast<i32>(load_as<T>(memory)));
  }
  MONOJIT_EMULATOR_INLINE static void zero(u32* result, u32 lane, u32) { result[lane] = 0; }
};

/// To one half of a register. The other half becomes zero: with memory under ECC, as on these chips, 16-bit loads write
/// the whole register (compilers do not rely on the old half either).
template <class T, bool kHigh>
struct LoadHalf {
  static constexpr u32 kBytes = sizeof(T);
  static constexpr u32 kParts = 1;
  static constexpr AccessKind kKind = AccessKind::kLoad;
  MONOJIT_EMULATOR_INLINE static void put(u32* result, u32 lane, u32 half) {
    result[lane] = kHigh ? half << 16 : half & 0xffff;
  }
  MONOJIT_EMULATOR_INLINE static void move(u32* result, const u32*, u32 lane, u8* memory) {
    put(result, lane, static_cast<u32>(static_cast<i32>(load_as<T>(memory))));
  }
  MONOJIT_EMULATOR_INLINE static void zero(u32* result, u32 lane, u32) { put(result, lane, 0); }
};

/// Aligned halves of 8 and 16 bytes must not tear (mailboxes rely on it), so a lane's data moves by one host
/// instruction.
template <u32 kWords>
struct LoadWords {
  static constexpr u32 kBytes = kWords * 4;
  static constexpr u32 kParts = kWords;
  static constexpr AccessKind kKind = AccessKind::kLoad;
  MONOJIT_EMULATOR_INLINE static void move(u32* result, const u32*, u32 lane, u8* memory) {
    if constexpr (kWords == 4) {
      alignas(16) u32 words[4];
      _mm_store_si128(reinterpret_cast<__m128i*>(words), load_quad(memory));
      for (u32 i = 0; i < 4; ++i) result[kLanes * i + lane] = words[i];
    } else {
      for (u32 i = 0; i + 1 < kWords; i += 2) move_pair(result, nullptr, lane, memory + 4 * i, i);
      if constexpr (kWords % 2 == 1) move_part(result, nullptr, lane, memory + 4 * (kWords - 1), kWords - 1);
    }
  }
  MONOJIT_EMULATOR_INLINE static void move_part(u32* result, const u32*, u32 lane, u8* memory, u32 part) {
    result[kLanes * part + lane] = load_as<u32>(memory);
  }
  MONOJIT_EMULATOR_INLINE static void move_pair(u32* result, const u32*, u32 lane, u8* memory, u32 part) {
    const u64 pair = load_pair(memory);
    result[kLanes * part + lane] = static_cast<u32>(pair);
    result[kLanes * (part + 1) + lane] = static_cast<u32>(pair >> 32);
  }
  MONOJIT_EMULATOR_INLINE static void zero(u32* result, u32 lane, u32 part) { result[kLanes * part + lane] = 0; }

  MONOJIT_EMULATOR_INLINE static void move_all(u32* result, const u32*, u8* base, const u32* offsets) {
    if constexpr (kWords == 1) {
      u32 difference = 0;
      for (u32 i = 0; i < kLanes; ++i) difference |= offsets[i] - (offsets[0] + 4 * i);
      if (difference == 0) {
        const u8* const first = base + offsets[0];
        for (u32 i = 0; i < kLanes; ++i) result[i] = load_as<u32>(first + 4 * i);
        return;
      }
    }
    if constexpr (kWords == 2) return load_pairs(result, base, offsets);
    if constexpr (kWords == 4) return load_quads(result, base, offsets);
    for (u32 lane = 0; lane < kLanes; ++lane) move(result, nullptr, lane, base + offsets[lane]);
  }
};

/// The low (or, for d16_hi, the high) 8 or 16 bits of a register.
template <class T, bool kHigh = false>
struct StoreNarrow {
  static constexpr u32 kBytes = sizeof(T);
  static constexpr u32 kParts = 1;
  static constexpr AccessKind kKind = AccessKind::kStore;
  MONOJIT_EMULATOR_INLINE static void move(u32*, const u32* data, u32 lane, u8* memory) {
    store_as(memory, static_cast<T>(kHigh ? data[lane] >> 16 : data[lane]));
  }
};

template <u32 kWords>
struct StoreWords {
  static constexpr u32 kBytes = kWords * 4;
  static constexpr u32 kParts = kWords;
  static constexpr AccessKind kKind = AccessKind::kStore;
  MONOJIT_EMULATOR_INLINE static void move(u32*, const u32* data, u32 lane, u8* memory) {
    if constexpr (kWords == 4) {
      store_quad(memory,
                 _mm_setr_epi32(static_cast<int>(data[lane]), static_cast<int>(data[kLanes + lane]),
                                static_cast<int>(data[2 * kLanes + lane]), static_cast<int>(data[3 * kLanes + lane])));
    } else {
      for (u32 i = 0; i + 1 < kWords; i += 2) move_pair(nullptr, data, lane, memory + 4 * i, i);
      if constexpr (kWords % 2 == 1) move_part(nullptr, data, lane, memory + 4 * (kWords - 1), kWords - 1);
    }
  }
  MONOJIT_EMULATOR_INLINE static void move_part(u32*, const u32* data, u32 lane, u8* memory, u32 part) {
    store_as(memory, data[kLanes * part + lane]);
  }
  MONOJIT_EMULATOR_INLINE static void move_pair(u32*, const u32* data, u32 lane, u8* memory, u32 part) {
    store_pair(memory, data[kLanes * part + lane], data[kLanes * (part + 1) + lane]);
  }

  MONOJIT_EMULATOR_INLINE static void move_all(u32*, const u32* data, u8* base, const u32* offsets) {
    if constexpr (kWords == 1) {
      u32 difference = 0;
      for (u32 i = 0; i < kLanes; ++i) difference |= offsets[i] - (offsets[0] + 4 * i);
      if (difference == 0) {
        u8* const first = base + offsets[0];
        for (u32 i = 0; i < kLanes; ++i) store_as(first + 4 * i, data[i]);
        return;
      }
    }
    if constexpr (kWords == 2) return store_pairs(data, base, offsets);
    if constexpr (kWords == 4) return store_quads(data, base, offsets);
    for (u32 lane = 0; lane < kLanes; ++lane) move(nullptr, data, lane, base + offsets[lane]);
  }
};

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
