// The sparse matrix products: shapes, chips, and which lane and register hold which element.
#pragma once

#include <cstddef>

#include "runtime/emulator/numerics/matrix_shape.h"

namespace monojit::emulator::matrix {

struct SparseShape {
  std::string_view mnemonic;
  Element a;
  Element b;
  int m;  ///< n is the same
  int k;  ///< of B; A stores half as many
  unsigned chips;

  [[nodiscard]] constexpr int width() const { return element_width(a); }
  /// Elements a lane holds: of B, and of A as stored.
  [[nodiscard]] constexpr int b_items() const { return m * k / 64; }
  [[nodiscard]] constexpr int a_items() const { return b_items() / 2; }
  [[nodiscard]] constexpr int result_items() const { return m * m / 64; }
  /// Sets of indices in the index register.
  [[nodiscard]] constexpr int index_sets() const { return 32 / (2 * a_items()); }
};

inline constexpr SparseShape kSparseShapes[] = {
    {"v_smfmac_f32_16x16x32_f16", Element::kF16, Element::kF16, 16, 32, kOnBoth},
    {"v_smfmac_f32_32x32x16_f16", Element::kF16, Element::kF16, 32, 16, kOnBoth},
    {"v_smfmac_f32_16x16x32_bf16", Element::kBf16, Element::kBf16, 16, 32, kOnBoth},
    {"v_smfmac_f32_32x32x16_bf16", Element::kBf16, Element::kBf16, 32, 16, kOnBoth},
    {"v_smfmac_i32_16x16x64_i8", Element::kI8, Element::kI8, 16, 64, kOnBoth},
    {"v_smfmac_i32_32x32x32_i8", Element::kI8, Element::kI8, 32, 32, kOnBoth},
    {"v_smfmac_f32_16x16x64_bf8_bf8", Element::kBf8, Element::kBf8, 16, 64, kOnBoth},
    {"v_smfmac_f32_16x16x64_bf8_fp8", Element::kBf8, Element::kFp8, 16, 64, kOnBoth},
    {"v_smfmac_f32_16x16x64_fp8_bf8", Element::kFp8, Element::kBf8, 16, 64, kOnBoth},
    {"v_smfmac_f32_16x16x64_fp8_fp8", Element::kFp8, Element::kFp8, 16, 64, kOnBoth},
    {"v_smfmac_f32_32x32x32_bf8_bf8", Element::kBf8, Element::kBf8, 32, 32, kOnBoth},
    {"v_smfmac_f32_32x32x32_bf8_fp8", Element::kBf8, Element::kFp8, 32, 32, kOnBoth},
    {"v_smfmac_f32_32x32x32_fp8_bf8", Element::kFp8, Element::kBf8, 32, 32, kOnBoth},
    {"v_smfmac_f32_32x32x32_fp8_fp8", Element::kFp8, Element::kFp8, 32, 32, kOnBoth},
    {"v_smfmac_f32_16x16x64_f16", Element::kF16, Element::kF16, 16, 64, kOnGfx950},
    {"v_smfmac_f32_32x32x32_f16", Element::kF16, Element::kF16, 32, 32, kOnGfx950},
    {"v_smfmac_f32_16x16x64_bf16", Element::kBf16, Element::kBf16, 16, 64, kOnGfx950},
    {"v_smfmac_f32_32x32x32_bf16", Element::kBf16, Element::kBf16, 32, 32, kOnGfx950},
    {"v_smfmac_i32_16x16x128_i8", Element::kI8, Element::kI8, 16, 128, kOnGfx950},
    {"v_smfmac_i32_32x32x64_i8", Element::kI8, Element::kI8, 32, 64, kOnGfx950},
    {"v_smfmac_f32_16x16x128_bf8_bf8", Element::kBf8, Element::kBf8, 16, 128, kOnGfx950},
    {"v_smfmac_f32_16x16x128_bf8_fp8", Element::kBf8, Element::kFp8, 16, 128, kOnGfx950},
    {"v_smfmac_f32_16x16x128_fp8_bf8", Element::kFp8, Element::kBf8, 16, 128, kOnGfx950},
    {"v_smfmac_f32_16x16x128_fp8_fp8", Element::kFp8, Element::kFp8, 16, 128, kOnGfx950},
    {"v_smfmac_f32_32x32x64_bf8_bf8", Element::kBf8, Element::kBf8, 32, 64, kOnGfx950},
    {"v_smfmac_f32_32x32x64_bf8_fp8", Element::kBf8, Element::kFp8, 32, 64, kOnGfx950},
    {"v_smfmac_f32_32x32x64_fp8_bf8", Element::kFp8, Element::kBf8, 32, 64, kOnGfx950},
    {"v_smfmac_f32_32x32x64_fp8_fp8", Element::kFp8, Element::kFp8, 32, 64, kOnGfx950},
};

inline constexpr std::size_t kSparseShapeCount = sizeof(kSparseShapes) / sizeof(kSparseShapes[0]);

/// k of B's item in a lane of group lane / m. A lane holds 16 bytes of consecutive k; the wider shapes a second piece
/// of 16 bytes, half of all k further on.
constexpr int sparse_k(const SparseShape& shape, int group, int item) {
  const int piece = 128 / shape.width();
  return item / piece * (shape.k / 2) + group * piece + item % piece;
}

/// The first of the four k that A's stored items 2q and 2q + 1 of a lane are taken from; the others follow it.
constexpr int sparse_quad(const SparseShape& shape, int group, int q) { return sparse_k(shape, group, 4 * q); }

/// Where D[i][j] is: as in a dense product of one block.
constexpr Place sparse_result_place(const SparseShape& shape, int i, int j) {
  const int lane_groups = 64 / shape.m;
  return {j + shape.m * (i / 4 % lane_groups), i % 4 + 4 * (i / 4 / lane_groups)};
}

}  // namespace monojit::emulator::matrix
