// Elements of the f8f6f4 tiles.
#pragma once

#include "runtime/emulator/numerics/mx.h"
#include "runtime/emulator/numerics/tile_columns.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {

inline constexpr int kScaleBlock = 32;
inline constexpr int kUnitScale = 127;  ///< E8M0 code of 1.0
inline constexpr int kNanScale = 255;

/// What an exactness check needs to know of the elements of A or B: a range of exponents, exact where the format's own
/// would be too wide (E5M2), and whether an Inf or NaN is among them.
struct Spread {
  int largest;
  int smallest;  ///< of the non-zero elements; above `largest` if there is none
  int mantissa_bits;
  bool special;
};

/// A or B of an f8f6f4 tile, as doubles, rows (columns) contiguous.
template <int M, int K>
struct ScaledSide {
  static constexpr int kItems = kScaleBlock;  // of a lane
  static_assert(K * M == kLanes * kItems);

  alignas(64) double value[K][M];

  /// k of an item of a lane group: 8-bit data lie in two halves.
  static constexpr int k_of(int width, int group, int item) {
    if (width != 8) return kItems * group + item;
    return K / 2 * (item / 16) + 16 * group + item % 16;
  }

  template <numerics::SmallFormat kFormat, std::uint32_t kFirstSpecial>
  Spread unpack(const std::uint32_t* rows) {
    constexpr int kBits = kFormat.width();
    U32 largest = {};
    U32 smallest = ~U32{};  // NOLINT(misc-const-correctness): changes for one format
    for (int lane = 0; lane < kLanes; lane += kWidth)
      for (int item = 0; item < kItems; ++item) {
        const int bit = kBits * item;
        const std::uint32_t* from = rows + kLanes * (bit / 32) + lane;
        U32 element = load<U32>(from) >> (bit % 32);
        if (bit % 32 + kBits > 32) element |= load<U32>(from + kLanes) << (32 - bit % 32);
        const U32 size = element & kFormat.mask();
        largest = largest > size ? largest : size;
        if constexpr (kFormat.exponent_bits == 5) {
          const U32 nonzero = size - 1;  // zero becomes the largest
          smallest = smallest < nonzero ? smallest : nonzero;
        }
        const F32 positive = widen_magnitudes<kFormat>(reinterpret<I32>(size));
        const U32 sign = (element & kFormat.sign()) << (32 - kBits);
        const F64Pair wide = widen(reinterpret<F32>(reinterpret<U32>(positive) | sign));
        double* to = &value[k_of(kBits, lane / M, item)][lane % M];
        store(to, wide.low);
        store(to + kWidth / 2, wide.high);
      }
    return spread<kFormat, kFirstSpecial>(largest, smallest);
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

 private:
  template <numerics::SmallFormat kFormat, std::uint32_t kFirstSpecial>
  static Spread spread(U32 largest_sizes, U32 smallest_sizes_less_one) {
    std::uint32_t largest = 0;
    std::uint32_t smallest = ~0U;
    for (int n = 0; n < kWidth; ++n) {
      largest = largest > largest_sizes[n] ? largest : largest_sizes[n];
      smallest = smallest < smallest_sizes_less_one[n] ? smallest : smallest_sizes_less_one[n];
    }
    const auto exponent = [](std::uint32_t size) {
      const auto field = static_cast<int>(size >> kFormat.mantissa_bits);
      return (field < 1 ? 1 : field) - kFormat.bias;
    };
    const int least = kFormat.exponent_bits < 5 ? 1 - kFormat.bias : exponent(smallest + 1);
    return {exponent(largest), smallest == ~0U && kFormat.exponent_bits == 5 ? 1000 : least, kFormat.mantissa_bits,
            largest >= kFirstSpecial};
  }
};

/// Scale codes of a side: of rows or columns, for each block of 32 k.
template <int M, int K>
struct ScaleCodes {
  alignas(64) std::int32_t code[K / kScaleBlock][M];
  I32 largest;  ///< the largest of all is among these
  I32 smallest;

  /// False if one of them is NaN.
  bool unpack(const std::uint32_t* row, int byte) {
    std::int32_t* codes = &code[0][0];  // lane = index + M * block, as is the array
    if (row == nullptr) {
      for (int lane = 0; lane < kLanes; ++lane) codes[lane] = kUnitScale;
      largest = smallest = splat(kUnitScale);
      return true;
    }
    largest = I32{};
    smallest = splat(kNanScale);
    for (int lane = 0; lane < kLanes; lane += kWidth) {
      const I32 some = (load<I32>(row + lane) >> (8 * byte)) & 0xFF;
      store(codes + lane, some);
      largest = larger(largest, some);
      smallest = smaller(smallest, some);
    }
    return !any(largest == kNanScale);
  }
};

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
