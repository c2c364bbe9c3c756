// The dense MFMAs: shapes, chips, and which lane and register hold which element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/emulator/numerics/matrix.h"

namespace monojit::emulator::matrix {

/// Element types of A and B. `kF8f6f4` stands for the formats that cbsz and blgp choose.
enum class Element : std::uint8_t { kF16, kBf16, kXf32, kF32, kF64, kI8, kFp8, kBf8, kF8f6f4 };

/// Bits of an element; of the widest format for kF8f6f4.
constexpr int element_width(Element element) {
  switch (element) {
    case Element::kF64:
      return 64;
    case Element::kF32:
    case Element::kXf32:
      return 32;
    case Element::kF16:
    case Element::kBf16:
      return 16;
    default:
      return 8;
  }
}

inline constexpr unsigned kOnGfx942 = 1;
inline constexpr unsigned kOnGfx950 = 2;
inline constexpr unsigned kOnBoth = kOnGfx942 | kOnGfx950;

struct TileShape {
  std::string_view mnemonic;
  std::string_view alias;  ///< second spelling: older assembler name, or the scaled form
  Element a;
  Element b;
  int m;
  int n;
  int k;
  int blocks;
  unsigned chips;

  /// A holds m*k*blocks elements in 64 lanes, this many each; B likewise.
  [[nodiscard]] constexpr int items() const { return m * k * blocks / 64; }
  [[nodiscard]] constexpr int input_rows() const { return (items() * element_width(a) + 31) / 32; }
  [[nodiscard]] constexpr bool has_f64_result() const { return a == Element::kF64; }
  [[nodiscard]] constexpr int result_items() const { return m * n * blocks / 64; }
};

inline constexpr TileShape kTileShapes[] = {
    {"v_mfma_f32_32x32x4_2b_f16", "v_mfma_f32_32x32x4f16", Element::kF16, Element::kF16, 32, 32, 4, 2, kOnBoth},
    {"v_mfma_f32_16x16x4_4b_f16", "v_mfma_f32_16x16x4f16", Element::kF16, Element::kF16, 16, 16, 4, 4, kOnBoth},
    {"v_mfma_f32_4x4x4_16b_f16", "v_mfma_f32_4x4x4f16", Element::kF16, Element::kF16, 4, 4, 4, 16, kOnBoth},
    {"v_mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8f16", Element::kF16, Element::kF16, 32, 32, 8, 1, kOnBoth},
    {"v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16f16", Element::kF16, Element::kF16, 16, 16, 16, 1, kOnBoth},
    {"v_mfma_f32_32x32x16_f16", "", Element::kF16, Element::kF16, 32, 32, 16, 1, kOnGfx950},
    {"v_mfma_f32_16x16x32_f16", "", Element::kF16, Element::kF16, 16, 16, 32, 1, kOnGfx950},
    {"v_mfma_f32_32x32x4_2b_bf16", "v_mfma_f32_32x32x4bf16_1k", Element::kBf16, Element::kBf16, 32, 32, 4, 2, kOnBoth},
    {"v_mfma_f32_16x16x4_4b_bf16", "v_mfma_f32_16x16x4bf16_1k", Element::kBf16, Element::kBf16, 16, 16, 4, 4, kOnBoth},
    {"v_mfma_f32_4x4x4_16b_bf16", "v_mfma_f32_4x4x4bf16_1k", Element::kBf16, Element::kBf16, 4, 4, 4, 16, kOnBoth},
    {"v_mfma_f32_32x32x8_bf16", "v_mfma_f32_32x32x8bf16_1k", Element::kBf16, Element::kBf16, 32, 32, 8, 1, kOnBoth},
    {"v_mfma_f32_16x16x16_bf16", "v_mfma_f32_16x16x16bf16_1k", Element::kBf16, Element::kBf16, 16, 16, 16, 1, kOnBoth},
    {"v_mfma_f32_32x32x16_bf16", "", Element::kBf16, Element::kBf16, 32, 32, 16, 1, kOnGfx950},
    {"v_mfma_f32_16x16x32_bf16", "", Element::kBf16, Element::kBf16, 16, 16, 32, 1, kOnGfx950},
    {"v_mfma_f32_16x16x32_fp8_fp8", "", Element::kFp8, Element::kFp8, 16, 16, 32, 1, kOnBoth},
    {"v_mfma_f32_32x32x16_fp8_fp8", "", Element::kFp8, Element::kFp8, 32, 32, 16, 1, kOnBoth},
    {"v_mfma_f32_16x16x32_fp8_bf8", "", Element::kFp8, Element::kBf8, 16, 16, 32, 1, kOnBoth},
    {"v_mfma_f32_32x32x16_fp8_bf8", "", Element::kFp8, Element::kBf8, 32, 32, 16, 1, kOnBoth},
    {"v_mfma_f32_16x16x32_bf8_fp8", "", Element::kBf8, Element::kFp8, 16, 16, 32, 1, kOnBoth},
    {"v_mfma_f32_32x32x16_bf8_fp8", "", Element::kBf8, Element::kFp8, 32, 32, 16, 1, kOnBoth},
    {"v_mfma_f32_16x16x32_bf8_bf8", "", Element::kBf8, Element::kBf8, 16, 16, 32, 1, kOnBoth},
    {"v_mfma_f32_32x32x16_bf8_bf8", "", Element::kBf8, Element::kBf8, 32, 32, 16, 1, kOnBoth},
    {"v_mfma_f32_32x32x1_2b_f32", "v_mfma_f32_32x32x1f32", Element::kF32, Element::kF32, 32, 32, 1, 2, kOnBoth},
    {"v_mfma_f32_16x16x1_4b_f32", "v_mfma_f32_16x16x1f32", Element::kF32, Element::kF32, 16, 16, 1, 4, kOnBoth},
    {"v_mfma_f32_4x4x1_16b_f32", "v_mfma_f32_4x4x1f32", Element::kF32, Element::kF32, 4, 4, 1, 16, kOnBoth},
    {"v_mfma_f32_32x32x2_f32", "v_mfma_f32_32x32x2f32", Element::kF32, Element::kF32, 32, 32, 2, 1, kOnBoth},
    {"v_mfma_f32_16x16x4_f32", "v_mfma_f32_16x16x4f32", Element::kF32, Element::kF32, 16, 16, 4, 1, kOnBoth},
    {"v_mfma_f32_16x16x8_xf32", "v_mfma_f32_16x16x8xf32", Element::kXf32, Element::kXf32, 16, 16, 8, 1, kOnGfx942},
    {"v_mfma_f32_32x32x4_xf32", "v_mfma_f32_32x32x4xf32", Element::kXf32, Element::kXf32, 32, 32, 4, 1, kOnGfx942},
    {"v_mfma_i32_32x32x4_2b_i8", "v_mfma_i32_32x32x4i8", Element::kI8, Element::kI8, 32, 32, 4, 2, kOnBoth},
    {"v_mfma_i32_16x16x4_4b_i8", "v_mfma_i32_16x16x4i8", Element::kI8, Element::kI8, 16, 16, 4, 4, kOnBoth},
    {"v_mfma_i32_4x4x4_16b_i8", "v_mfma_i32_4x4x4i8", Element::kI8, Element::kI8, 4, 4, 4, 16, kOnBoth},
    {"v_mfma_i32_32x32x16_i8", "v_mfma_i32_32x32x16i8", Element::kI8, Element::kI8, 32, 32, 16, 1, kOnBoth},
    {"v_mfma_i32_16x16x32_i8", "v_mfma_i32_16x16x32i8", Element::kI8, Element::kI8, 16, 16, 32, 1, kOnBoth},
    {"v_mfma_i32_16x16x64_i8", "", Element::kI8, Element::kI8, 16, 16, 64, 1, kOnGfx950},
    {"v_mfma_i32_32x32x32_i8", "", Element::kI8, Element::kI8, 32, 32, 32, 1, kOnGfx950},
    {"v_mfma_f64_16x16x4_f64", "v_mfma_f64_16x16x4f64", Element::kF64, Element::kF64, 16, 16, 4, 1, kOnBoth},
    {"v_mfma_f64_4x4x4_4b_f64", "v_mfma_f64_4x4x4f64", Element::kF64, Element::kF64, 4, 4, 4, 4, kOnBoth},
    {"v_mfma_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_16x16x128_f8f6f4", Element::kF8f6f4, Element::kF8f6f4, 16, 16,
     128, 1, kOnGfx950},
    {"v_mfma_f32_32x32x64_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4", Element::kF8f6f4, Element::kF8f6f4, 32, 32, 64,
     1, kOnGfx950},
};

inline constexpr std::size_t kTileShapeCount = sizeof(kTileShapes) / sizeof(kTileShapes[0]);

/// A lane and an item in it: item n of width w sits in bits n*w .. n*w+w-1 of the lane's register tuple.
struct Place {
  int lane;
  int item;
};

/// Where A[block][index][k] is, index being the row; B[block][k][index] is in the same place, index being the column.
constexpr Place input_place(const TileShape& shape, int block, int index, int k) {
  const int items = shape.items();
  return {index + shape.m * (block + shape.blocks * (k / items)), k % items};
}

/// The same for f8f6f4. 8-bit data come in two halves of 16 k, as far apart as all lane groups' first halves.
constexpr Place input_place_f8f6f4(const TileShape& shape, bool eight_bits, int index, int k) {
  if (!eight_bits) return {index + shape.m * (k / 32), k % 32};
  const int half = k / (shape.k / 2);
  const int within = k % (shape.k / 2);
  return {index + shape.m * (within / 16), 16 * half + within % 16};
}

/// Lane of the scale byte of a row or column and k, whatever the data format.
constexpr int scale_lane(const TileShape& shape, int index, int k) { return index + shape.m * (k / 32); }

/// Where C[block][i][j] and D[block][i][j] are.
constexpr Place result_place(const TileShape& shape, int block, int i, int j) {
  if (shape.m == 4) {
    if (shape.has_f64_result()) return {j + 4 * block + 16 * i, 0};
    return {j + 4 * block, i};
  }
  if (shape.has_f64_result()) return {j + 16 * (i % 4), i / 4};
  const int lane_groups = 64 / shape.n;
  const int quad = i / 4;
  return {j + shape.n * (quad % lane_groups), i % 4 + 4 * (quad / lane_groups) + block * (shape.m * shape.n / 64)};
}

/// Lane that supplies A's (cbsz, abid) or B's (blgp) data of a lane; not for f64 and f8f6f4.
constexpr int broadcast_lane(int lane, unsigned cbsz, unsigned abid) {
  const int size = 64 >> cbsz;
  return cbsz == 0 ? lane : (lane % size + size * static_cast<int>(abid)) % 64;
}

constexpr int patterned_lane(int lane, unsigned blgp) {
  switch (blgp) {
    case 1:
      return lane % 32;
    case 2:
      return lane % 32 + 32;
    case 3:
      return (lane + 16) % 64;
    case 4:
      return lane % 16;
    case 5:
      return lane % 16 + 16;
    case 6:
      return lane % 16 + 32;
    case 7:
      return lane % 16 + 48;
    default:
      return lane;
  }
}

}  // namespace monojit::emulator::matrix
