#include "kernels/common/reference/gemv_step.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/common/reference/matrix_parts.h"

namespace monojit::kernels::reference {
namespace {

constexpr int kGroup = 8;
constexpr int kUnitField = kF32Bias + kSumBits + kF32Bias;
constexpr float kNear = 0x1p30F;  // addends below this many units take the short way
constexpr float kTame = 0x1p45F;  // products of values from 1 / kTame to kTame keep clear of f32's ends

using VectorF32 [[gnu::vector_size(64)]] = float;
using VectorI32 [[gnu::vector_size(64)]] = std::int32_t;
using VectorU32 [[gnu::vector_size(64)]] = std::uint32_t;

bool is_tame(const BFloat16Range& range) { return range.least >= 1 / kTame && range.largest <= kTame; }

#define MONOJIT_HOST_LOOPS "kernels/common/reference/gemv_step_loops.inc"
#include "kernels/common/reference/host_variants.h"

}  // namespace

void WeightStep::load(const BFloat16Bits* first, std::ptrdiff_t pitch) {
  static const auto kLoad = MONOJIT_FOR_HOST(load_rows);
  kLoad(rows, range, first, pitch);
}

void ActivationStep::load(const BFloat16Bits* first) {
  for (std::size_t k = 0; k < kMfmaK; ++k) {
    column.value[k] = bf16_value(first[k]);
    column.power[k] = bf16_power(column.value[k]);
  }
  range = range_of(column);
}

void add_step(MatrixModel model, const WeightStep& a, std::span<const ActivationStep> b, std::span<MfmaColumn> c) {
  static const auto kAddTame = MONOJIT_FOR_HOST(add_tame);
  static const auto kAddFused = MONOJIT_FOR_HOST(add_fused);
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (model == MatrixModel::kFmaChain) {
      kAddFused(a.rows, b[i].column, c[i].data());
    } else if (model == MatrixModel::kCdna3 && is_tame(a.range) && is_tame(b[i].range)) {
      kAddTame(a.rows, b[i].column, c[i].data());
    } else {
      mfma_bf16(model, kMfmaK, a.rows, b[i].column, a.range, b[i].range, c[i]);
    }
  }
}

}  // namespace monojit::kernels::reference
