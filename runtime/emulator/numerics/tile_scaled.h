// Elements of the f8f6f4 tiles.
#pragma once

#include "runtime/emulator/numerics/matrix_number.h"
#include "runtime/emulator/numerics/mx.h"
#include "runtime/emulator/numerics/tile_columns.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {

inline constexpr int kScaleBlock = 32;
inline constexpr int kUnitScale = 127;  ///< E8M0 code of 1.0
inline constexpr int kNanScale = 255;

/// What an exactness check needs to know of the elements of A or B.
struct Spread {
  int largest;        ///< exponent
  int smallest;       ///< exponent of a non-zero element; above `largest` if there is none
  int mantissa_bits;  ///< below the exponent
  bool special;       ///< an Inf or NaN is among them
};

/// A or B of an f8f6f4 tile, as doubles, rows (columns) contiguous.
template <int M, int K>
struct ScaledSide {
  alignas(64) double value[K][M];

  /// Code of element k of each row: `width` bits of the lane's tuple.
  template <int kWidthBits>
  MONOJIT_LANE_FUNCTION static std::uint32_t code(const std::uint32_t* words, int bit) {
    const std::uint32_t* word = words + kLanes * (bit / 32);
    std::uint32_t code = word[0] >> (bit % 32);
    if (bit % 32 + kWidthBits > 32) code |= word[kLanes] << (32 - bit % 32);
    return code & ((1U << kWidthBits) - 1);
  }

  template <numerics::SmallFormat kFormat, std::uint32_t kFirstSpecial>
  Spread unpack(const std::uint32_t* rows) {
    constexpr int kGroups = kLanes / M;
    constexpr int kBits = kFormat.width();
    std::uint32_t special = 0;
    std::int32_t largest = INT32_MIN;
    std::int32_t smallest = INT32_MAX;
    for (int k = 0; k < K; ++k) {
      const bool halves = kBits == 8;
      const int within = halves ? k % (K / 2) : k;
      const int lane = M * (halves ? within / 16 : within / kScaleBlock);
      const int item = halves ? 16 * (k / (K / 2)) + within % 16 : within % kScaleBlock;
      static_assert(K == kGroups * kScaleBlock);
      for (int i = 0; i < M; ++i) {
        const std::uint32_t element = code<kBits>(rows + lane + i, kBits * item);
        const std::uint32_t size = element & kFormat.mask();
        special |= static_cast<std::uint32_t>(size >= kFirstSpecial);
        const auto field = static_cast<std::int32_t>(size >> kFormat.mantissa_bits);
        const std::int32_t exponent = (field < 1 ? 1 : field) - kFormat.bias;
        largest = exponent > largest ? exponent : largest;
        const std::int32_t nonzero = size == 0 ? INT32_MAX : exponent;
        smallest = nonzero < smallest ? nonzero : smallest;
        value[k][i] = static_cast<double>(
            numerics::as_float(numerics::widen_sign<kFormat>(element) | numerics::widen_magnitude<kFormat>(size)));
      }
    }
    return {largest, smallest, kFormat.mantissa_bits, special != 0};
  }

  /// `format`: cbsz or blgp.
  Spread unpack(unsigned format, const std::uint32_t* rows) {
    switch (format) {
      case 0:
        return unpack<numerics::kFormatE4M3, 0x7F>(rows);
      case 1:
        return unpack<numerics::kFormatE5M2, 0x7C>(rows);
      case 2:
        return unpack<numerics::kFormatE2M3, 0x20>(rows);
      case 3:
        return unpack<numerics::kFormatE3M2, 0x20>(rows);
      default:
        return unpack<numerics::kFormatE2M1, 0x8>(rows);
    }
  }
};

/// Scale codes of a side: of rows or columns, for each block of 32 k.
template <int M, int K>
struct ScaleCodes {
  alignas(64) std::int32_t code[K / kScaleBlock][M];

  /// False if one of them is NaN.
  bool unpack(const std::uint32_t* row, int byte) {
    std::int32_t* codes = &code[0][0];  // lane = index + M * block, as is the array
    bool nan = false;
    for (int lane = 0; lane < kLanes; ++lane) {
      codes[lane] = row == nullptr ? kUnitScale : static_cast<std::int32_t>((row[lane] >> (8 * byte)) & 0xFFU);
      nan |= codes[lane] == kNanScale;
    }
    return !nan;
  }
};

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
