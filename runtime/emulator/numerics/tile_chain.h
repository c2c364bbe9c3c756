// Tiles without any grouping: a fused multiply-add for each k (f32, f64, and every float under MatrixModel::kFmaChain)
// or exact integers. Vectors run along the columns, where C and D are contiguous.
#pragma once

#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/numerics/fp8.h"
#include "runtime/emulator/numerics/matrix_shape.h"
#include "runtime/emulator/numerics/tile_kernels.h"

namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE {

/// The value of an element, as what the chain is made of.
template <Element kElement, Chip kChip>
MONOJIT_LANE_FUNCTION float decode_element(std::uint32_t code, bool flush) {
  using numerics::Fp8;
  constexpr bool kFnuz = kChip == Chip::kGfx942;
  std::uint32_t bits = code;
  if constexpr (kElement == Element::kF16) bits = numerics::decode_f16(code);
  if constexpr (kElement == Element::kBf16) bits = numerics::decode_bf16(code);
  if constexpr (kElement == Element::kFp8) bits = numerics::decode_fp8<kFnuz ? Fp8::kE4M3Fnuz : Fp8::kE4M3>(code);
  if constexpr (kElement == Element::kBf8) bits = numerics::decode_fp8<kFnuz ? Fp8::kE5M2Fnuz : Fp8::kE5M2>(code);
  if constexpr (kElement == Element::kXf32) bits &= ~0x1FFFU;
  if constexpr (element_width(kElement) == 32) bits = numerics::select(flush, numerics::flush_denormal(bits), bits);
  return numerics::as_float(bits);
}

/// Operands and result of a tile as dense arrays: a[block][row][k], b[block][k][column].
template <class Value, int kBlocks, int M, int K>
struct DenseInputs {
  Value a[kBlocks][M][K];
  alignas(64) Value b[kBlocks][K][M];
};

template <std::size_t kShape, Chip kChip, class Value>
void gather_inputs(const TileArguments& arguments, auto& dense) {
  constexpr const TileShape& kTile = kTileShapes[kShape];
  const auto read = [&]<Element kElement>(const std::uint32_t* rows, Place place) -> Value {
    constexpr int kElementWidth = element_width(kElement);
    const int bit = place.item * kElementWidth;
    const std::uint32_t* word = rows + 64 * (bit / 32) + place.lane;
    if constexpr (kElement == Element::kF64) {
      return numerics::as_double(word[0] | static_cast<std::uint64_t>(word[64]) << 32);
    } else if constexpr (kElement == Element::kI8) {
      return static_cast<std::int8_t>(word[0] >> (bit % 32));
    } else {
      const std::uint32_t code =
          kElementWidth == 32 ? word[0] : (word[0] >> (bit % 32)) & ((1U << (kElementWidth % 32)) - 1);
      return decode_element<kElement, kChip>(code, arguments.flush_f32_inputs);
    }
  };
  for (int block = 0; block < kTile.blocks; ++block)
    for (int k = 0; k < kTile.k; ++k)
      for (int index = 0; index < kTile.m; ++index) {
        const Place place = input_place(kTile, block, index, k);
        dense.a[block][index][k] = read.template operator()<kTile.a>(arguments.a, place);
        dense.b[block][k][index] = read.template operator()<kTile.b>(arguments.b, place);
      }
}

/// x * y + sum of each element, with one rounding for floats.
template <class Vector>
MONOJIT_LANE_FUNCTION Vector chain_step(Vector x, Vector y, Vector sum) {
  constexpr int kCount = sizeof(Vector) / sizeof(x[0]);
  for (int n = 0; n < kCount; ++n) {
    if constexpr (sizeof(x[0]) == 8)
      sum[n] = __builtin_fma(x[n], y[n], sum[n]);
    else if constexpr (requires { x % y; })
      sum[n] += x[n] * y[n];
    else
      sum[n] = __builtin_fmaf(x[n], y[n], sum[n]);
  }
  return sum;
}

}  // namespace monojit::emulator::matrix::inline MONOJIT_HOST_ISA_NAMESPACE
