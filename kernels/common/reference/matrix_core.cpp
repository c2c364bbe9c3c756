#include "kernels/common/reference/matrix_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "kernels/common/error.h"
#include "kernels/common/reference/matrix_parts.h"

// The "cdna3" model for FP8: an MFMA walks k in groups of 16. A group adds its products of even and of odd k
// separately, each cut towards zero 24 bits below its own largest exponent, joins the two sums and the running f32 with
// rounding down at fixed distances, and rounds to f32. Every quantity is a small integer times a known power of two.
namespace monojit::kernels::reference {
namespace {

constexpr int kGroup = 16;

/// A row's products of one parity: their exact sum in units of 2^(exponent - 24). All zero: sum 0, exponent -127.
struct ParitySums {
  std::array<std::int32_t, kMfmaRows> sum{};
  std::array<std::int32_t, kMfmaRows> exponent{};
};

ParitySums sum_parity(const Fp8Rows& a, const Fp8Column& b, int first) {
  std::array<float, kMfmaRows> largest{};
  for (int k = first; k < first + kGroup; k += 2) {
    for (int row = 0; row < kMfmaRows; ++row) {
      const float power = a.power[k][row] * b.power[k];
      largest[row] = largest[row] < power ? power : largest[row];
    }
  }
  ParitySums result;
  std::array<float, kMfmaRows> unit{};  // 2^(24 - exponent)
  for (int row = 0; row < kMfmaRows; ++row) {
    const auto bits = std::bit_cast<std::uint32_t>(largest[row]);
    result.exponent[row] = static_cast<std::int32_t>(bits >> kF32Fraction) - kF32Bias;
    unit[row] = std::bit_cast<float>((std::uint32_t{kF32Bias + kSumBits + kF32Bias} << kF32Fraction) - bits);
  }
  for (int k = first; k < first + kGroup; k += 2) {
    for (int row = 0; row < kMfmaRows; ++row) {
      // Both products are exact, and the conversion cuts towards zero.
      result.sum[row] += static_cast<std::int32_t>(a.value[k][row] * b.value[k] * unit[row]);
    }
  }
  return result;
}

void add_group(const Fp8Rows& a, const Fp8Column& b, int first, MfmaColumn& c) {
  const ParitySums even = sum_parity(a, b, first);
  const ParitySums odd = sum_parity(a, b, first + 1);
  for (int row = 0; row < kMfmaRows; ++row) {
    const int ed = std::max(even.exponent[row], odd.exponent[row]);
    const std::int64_t sum =
        floor_shift(even.sum[row], ed - even.exponent[row]) + floor_shift(odd.sum[row], ed - odd.exponent[row]);
    c[row] = join_addend(sum, ed, c[row], SmallAddend::kDropped);
  }
}

void add_chain(const Fp8Rows& a, const Fp8Column& b, MfmaColumn& c) {
  for (int k = 0; k < kMfmaK; ++k) {
    // The product has 8 significant bits: rounding it is no step of its own.
    for (int row = 0; row < kMfmaRows; ++row) c[row] = c[row] + a.value[k][row] * b.value[k];
  }
}

void add_exact(const Fp8Rows& a, const Fp8Column& b, MfmaColumn& c) {
  // Products are multiples of 2^-20 below 2^18, so sums of 32 are exact in double.
  std::array<double, kMfmaRows> sum{};
  for (int k = 0; k < kMfmaK; ++k) {
    for (int row = 0; row < kMfmaRows; ++row) sum[row] += static_cast<double>(a.value[k][row] * b.value[k]);
  }
  for (int row = 0; row < kMfmaRows; ++row) c[row] = add_rounded_once(sum[row], c[row]);
}

template <std::size_t N>
bool holds_nan(const std::array<float, N>& values) {
  float sum = 0;  // all other values are finite and small
  for (const float value : values) sum += value;
  return std::isnan(sum);
}

void mfma_finite(MatrixModel model, const Fp8Rows& a, const Fp8Column& b, MfmaColumn& c) {
  switch (model) {
    case MatrixModel::kCdna3:
      for (int first = 0; first < kMfmaK; first += kGroup) add_group(a, b, first, c);
      break;
    case MatrixModel::kFmaChain:
      add_chain(a, b, c);
      break;
    case MatrixModel::kExact:
      add_exact(a, b, c);
      break;
  }
}

void mfma_with_nan(MatrixModel model, Fp8Rows a, const Fp8Column& b, MfmaColumn& c) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (holds_nan(b.value)) {
    c.fill(kNan);
    return;
  }
  std::array<bool, kMfmaRows> poisoned{};
  for (auto& k : a.value) {
    for (int row = 0; row < kMfmaRows; ++row) {
      if (!std::isnan(k[row])) continue;
      poisoned[row] = true;
      k[row] = 0;
    }
  }
  mfma_finite(model, a, b, c);
  for (int row = 0; row < kMfmaRows; ++row) {
    if (poisoned[row]) c[row] = kNan;
  }
}

}  // namespace

MatrixModel matrix_model(std::string_view name) {
  if (name == "cdna3") return MatrixModel::kCdna3;
  if (name == "fma-chain") return MatrixModel::kFmaChain;
  if (name == "exact") return MatrixModel::kExact;
  throw UserError("unknown matrix core model \"" + std::string(name) + "\": use cdna3, fma-chain or exact");
}

void mfma_fp8(MatrixModel model, const Fp8Rows& a, const Fp8Column& b, MfmaColumn& c) {
  MfmaColumn trace{};
  for (const auto& k : a.value) {
    for (int row = 0; row < kMfmaRows; ++row) trace[row] += k[row];
  }
  if (holds_nan(trace) || holds_nan(b.value)) {
    mfma_with_nan(model, a, b, c);
  } else {
    mfma_finite(model, a, b, c);
  }
}

}  // namespace monojit::kernels::reference
