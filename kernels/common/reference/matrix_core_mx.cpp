#include "kernels/common/reference/matrix_core_mx.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/common/reference/exact_sum.h"

namespace monojit::kernels::reference {
namespace {

constexpr int kBlockBytes = kMfmaRows * kMxBlock / 2;
constexpr int kRowBytes = kMxBlock / 2;
constexpr int kNanCode = 255;
constexpr int kUnitCode = 127;
constexpr float kPerDot = 0.25F;  // dot products are kept four times too large

using Bytes [[gnu::vector_size(64)]] = std::int8_t;  // of four rows
using HalfBytes [[gnu::vector_size(32)]] = std::int8_t;
using Halves [[gnu::vector_size(64)]] = std::int16_t;  // of two rows
using Quads [[gnu::vector_size(64)]] = std::uint64_t;  // of two rows

/// A scale of code 0 .. 254 as f32.
inline float power(std::uint32_t code) { return std::bit_cast<float>(code == 0 ? 0x00400000U : code << 23); }

/// Four times the product of a row's value and a column's, k of a block.
int product_of(const MxRows& a, const MxColumnBlock* b, int block, int row, int k) {
  constexpr std::int8_t kTwice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const std::uint8_t byte = a.tile[block * kBlockBytes + row * kRowBytes + k / 2];
  const int column = k % 2 == 0 ? b[block].even[k / 2] : b[block].odd[k / 2];
  return kTwice[k % 2 == 0 ? byte & 15 : byte >> 4] * column;
}

#define MONOJIT_HOST_LOOPS "kernels/common/reference/matrix_core_mx_loops.inc"
#include "kernels/common/reference/host_variants.h"

/// A product with this scale may leave f32, whose range the quick ways rely on.
constexpr unsigned kLargestQuickCode = 230;

bool is_quick(const MxRows& a, const MxColumnBlock* b) {
  unsigned largest = 0;
  for (int block = 0; block < kMxMfmaBlocks; ++block) {
    for (const std::uint8_t code : a.code[block]) largest = largest < code ? code : largest;
    largest = largest < b[block].code ? b[block].code : largest;
  }
  return largest <= kLargestQuickCode;
}

double block_sum(const MxRows& a, const MxColumnBlock* b, int block, int row, std::int32_t dot) {
  const int a_code = a.code[block][row];
  if (a_code == kNanCode || b[block].code == kNanCode) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(dot * static_cast<double>(kPerDot), a_code + b[block].code - 2 * kUnitCode);
}

void add_any_blocks(const MxRows& a, const MxColumnBlock* b, MfmaColumn& c) {
  for (int block = 0; block < kMxMfmaBlocks; ++block) {
    const auto dot = mx_dots(a.tile + block * kBlockBytes, b[block]);
    for (int row = 0; row < kMfmaRows; ++row) {
      c[row] = rounded_sum(block_sum(a, b, block, row, dot[row]), c[row]);
    }
  }
}

void add_all_at_once(const MxRows& a, const MxColumnBlock* b, MfmaColumn& c) {
  std::array<std::array<std::int32_t, kMfmaRows>, kMxMfmaBlocks> dot{};
  for (int block = 0; block < kMxMfmaBlocks; ++block) dot[block] = mx_dots(a.tile + block * kBlockBytes, b[block]);
  for (int row = 0; row < kMfmaRows; ++row) {
    ExactSum sum;
    sum.add(c[row]);
    for (int block = 0; block < kMxMfmaBlocks; ++block) sum.add(block_sum(a, b, block, row, dot[block][row]));
    c[row] = sum.rounded();
  }
}

void add_any_products(const MxRows& a, const MxColumnBlock* b, MfmaColumn& c) {
  for (int block = 0; block < kMxMfmaBlocks; ++block) {
    for (int row = 0; row < kMfmaRows; ++row) {
      for (int k = 0; k < kMxBlock; ++k) {
        c[row] = rounded_sum(block_sum(a, b, block, row, product_of(a, b, block, row, k)), c[row]);
      }
    }
  }
}

}  // namespace

void MxColumnBlock::load(const std::uint32_t* words, unsigned scale_code) {
  for (int k = 0; k < kMxBlock; ++k) {
    const auto twice = static_cast<std::int8_t>(2 * fp4_value(words[k / 8] >> (4 * (k % 8)) & 15U));
    (k % 2 == 0 ? even : odd)[k / 2] = twice;
  }
  code = static_cast<std::uint8_t>(scale_code);
}

std::array<std::int32_t, kMfmaRows> mx_dots(const std::uint8_t* block, const MxColumnBlock& b) {
  std::array<std::int32_t, kMfmaRows> result{};
  static const auto kDots = MONOJIT_FOR_HOST(dots);
  kDots(block, b, result.data());
  return result;
}

void mfma_mx(MatrixModel model, const MxRows& a, const MxColumnBlock* b, MfmaColumn& c) {
  static const auto kAddBlocks = MONOJIT_FOR_HOST(add_blocks);
  static const auto kAddProducts = MONOJIT_FOR_HOST(add_products);
  switch (model) {
    case MatrixModel::kCdna3:
      if (is_quick(a, b)) {
        kAddBlocks(a, b, c.data());
      } else {
        add_any_blocks(a, b, c);
      }
      break;
    case MatrixModel::kFmaChain:
      if (is_quick(a, b)) {
        kAddProducts(a, b, c.data());
      } else {
        add_any_products(a, b, c);
      }
      break;
    case MatrixModel::kExact:
      add_all_at_once(a, b, c);
      break;
  }
}

}  // namespace monojit::kernels::reference
