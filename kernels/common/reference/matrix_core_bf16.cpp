#include "kernels/common/reference/matrix_core_bf16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/common/reference/matrix_parts.h"

// The "cdna3" model for bf16: an MFMA walks k in groups of 8. A group cuts its products towards zero 24 bits below the
// largest exponent among them, adds them up, and joins the sum with the running f32 as for FP8. Each model stands here
// twice: for 16 rows at a time on values that f32 and double arithmetic can't round, and for one row of any values.
namespace monojit::kernels::reference {
namespace {

constexpr int kGroup = 8;
constexpr int kNoProduct = -999;      // exponent of a group whose products are all zero
constexpr int kProductFraction = 14;  // fraction bits of two bf16 significands' product
constexpr int kLeastExponent = -126;

/// Products of ranges within this can't overflow or become denormal, nor their units of 2^-24.
constexpr float kTameLeast = 0x1p-45F;
constexpr float kTameLargest = 0x1p45F;
constexpr int kDoubleBits = 53;
constexpr int kSumBitsAbove = 7;  // 32 products, each below 4 times its power

bool tame(const BFloat16Range& range) { return range.least >= kTameLeast && range.largest <= kTameLargest; }

/// Whether double holds every sum of an MFMA's products.
bool exact_in_double(const BFloat16Range& a, const BFloat16Range& b) {
  const float span = (a.largest / a.least) * (b.largest / b.least);
  return span <= std::ldexp(1.0F, kDoubleBits - kSumBitsAbove - a.fraction - b.fraction);
}

void add_group(const BFloat16Rows& a, const BFloat16Column& b, int first, MfmaColumn& c) {
  std::array<float, kMfmaRows> largest{};
  for (int k = first; k < first + kGroup; ++k) {
    for (int row = 0; row < kMfmaRows; ++row) {
      const float power = a.power[k][row] * b.power[k];
      largest[row] = largest[row] < power ? power : largest[row];
    }
  }
  std::array<std::uint32_t, kMfmaRows> bits{};
  std::array<float, kMfmaRows> unit{};  // 2^(24 - exponent)
  for (int row = 0; row < kMfmaRows; ++row) {
    bits[row] = std::bit_cast<std::uint32_t>(largest[row]);
    unit[row] = std::bit_cast<float>((std::uint32_t{kF32Bias + kSumBits + kF32Bias} << kF32Fraction) - bits[row]);
  }
  std::array<std::int32_t, kMfmaRows> sum{};
  for (int k = first; k < first + kGroup; ++k) {
    for (int row = 0; row < kMfmaRows; ++row) {
      // Both products are exact, and the conversion cuts towards zero.
      sum[row] += static_cast<std::int32_t>(a.value[k][row] * b.value[k] * unit[row]);
    }
  }
  for (int row = 0; row < kMfmaRows; ++row) {
    const int ed = static_cast<int>(bits[row] >> kF32Fraction) - kF32Bias;
    c[row] = join_addend(sum[row], ed, c[row], SmallAddend::kRoundedDown);
  }
}

void add_tame(MatrixModel model, const BFloat16Rows& a, const BFloat16Column& b, int first, int count, MfmaColumn& c) {
  switch (model) {
    case MatrixModel::kCdna3:
      for (int k = first; k < first + count; k += kGroup) add_group(a, b, k, c);
      break;
    case MatrixModel::kFmaChain:
      for (int k = first; k < first + count; ++k) {
        // The product has 16 significant bits: rounding it is no step of its own.
        for (int row = 0; row < kMfmaRows; ++row) c[row] = c[row] + a.value[k][row] * b.value[k];
      }
      break;
    case MatrixModel::kExact: {
      std::array<double, kMfmaRows> sum{};
      for (int k = first; k < first + count; ++k) {
        for (int row = 0; row < kMfmaRows; ++row) sum[row] += static_cast<double>(a.value[k][row] * b.value[k]);
      }
      for (int row = 0; row < kMfmaRows; ++row) c[row] = add_rounded_once(sum[row], c[row]);
      break;
    }
  }
}

/// One row's products with a column.
struct Products {
  const BFloat16Rows& a;
  const BFloat16Column& b;
  int row;

  float of(int k) const { return a.value[k][row] * b.value[k]; }
  double wide(int k) const { return static_cast<double>(a.value[k][row]) * b.value[k]; }
  int exponent(int k) const { return std::ilogb(a.power[k][row]) + std::ilogb(b.power[k]); }
};

float group_of_any(const Products& products, int first, float c) {
  int ed = kNoProduct;
  float not_finite = std::isfinite(c) ? 0 : c;
  for (int k = first; k < first + kGroup; ++k) {
    if (!std::isfinite(products.of(k))) {
      not_finite += products.of(k);
    } else if (products.wide(k) != 0) {
      ed = std::max(ed, products.exponent(k));
    }
  }
  if (not_finite != 0) return not_finite;
  std::int64_t sum = 0;
  for (int k = first; k < first + kGroup; ++k) {
    if (products.wide(k) == 0) continue;
    // An integer, then cut to the group's unit.
    const int exponent = products.exponent(k);
    const auto significand = static_cast<std::int64_t>(std::ldexp(products.wide(k), kProductFraction - exponent));
    const int left = kSumBits - kProductFraction - (ed - exponent);
    sum += left >= 0 ? significand * (std::int64_t{1} << left) : significand / (std::int64_t{1} << std::min(-left, 62));
  }
  return join_addend(sum, ed == kNoProduct ? kLeastExponent : ed, c, SmallAddend::kRoundedDown);
}

/// The sum of doubles with a single rounding to f32: partial sums that don't overlap hold it exactly.
float sum_rounded_once(const std::vector<double>& terms) {
  std::vector<double> partials;
  for (double term : terms) {
    std::vector<double> rest;
    for (double partial : partials) {
      if (std::fabs(term) < std::fabs(partial)) std::swap(term, partial);
      const double high = term + partial;
      const double low = partial - (high - term);
      if (low != 0) rest.push_back(low);
      term = high;
    }
    rest.push_back(term);
    partials = std::move(rest);
  }
  double high = 0;
  for (std::size_t i = partials.size(); i > 0; --i) {
    const double sum = high + partials[i - 1];
    if (const double low = partials[i - 1] - (sum - high); low != 0) return add_rounded_once(sum, low);
    high = sum;
  }
  return static_cast<float>(high);
}

float exact_of_any(const Products& products, int first, int count, float c) {
  std::vector<double> terms = {c};
  double plain = c;
  for (int k = first; k < first + count; ++k) {
    terms.push_back(products.wide(k));
    plain += products.wide(k);
  }
  return std::isfinite(plain) ? sum_rounded_once(terms) : static_cast<float>(plain);
}

float add_any(MatrixModel model, const Products& products, int first, int count, float c) {
  switch (model) {
    case MatrixModel::kCdna3:
      for (int k = first; k < first + count; k += kGroup) c = group_of_any(products, k, c);
      return c;
    case MatrixModel::kFmaChain:
      for (int k = first; k < first + count; ++k) {
        c = std::fma(products.a.value[k][products.row], products.b.value[k], c);
      }
      return c;
    case MatrixModel::kExact:
      break;
  }
  return exact_of_any(products, first, count, c);
}

}  // namespace

float bf16_power(float value) {
  if (value == 0 || !std::isfinite(value)) return std::fabs(value);
  return std::ldexp(1.0F, std::max(std::ilogb(value), kLeastExponent));
}

BFloat16Range range_of(const BFloat16Column& column) {
  BFloat16Range range{std::numeric_limits<float>::infinity(), 0};
  for (const float power : column.power) {
    if (power == 0) continue;
    if (!std::isfinite(power)) return {0, std::numeric_limits<float>::infinity()};
    range.least = std::min(range.least, power);
    range.largest = std::max(range.largest, power);
  }
  return range.largest == 0 ? BFloat16Range{} : range;
}

void mfma_bf16(MatrixModel model, int instruction_k, const BFloat16Rows& a, const BFloat16Column& b,
               const BFloat16Range& range_a, const BFloat16Range& range_b, MfmaColumn& c) {
  const bool quick =
      tame(range_a) && tame(range_b) && (model != MatrixModel::kExact || exact_in_double(range_a, range_b));
  for (int first = 0; first < kMfmaK; first += instruction_k) {
    if (quick) {
      add_tame(model, a, b, first, instruction_k, c);
      continue;
    }
    for (int row = 0; row < kMfmaRows; ++row) {
      c[row] = add_any(model, Products{a, b, row}, first, instruction_k, c[row]);
    }
  }
}

}  // namespace monojit::kernels::reference
