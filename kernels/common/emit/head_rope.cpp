#include "kernels/common/emit/head_rope.h"

namespace monojit::kernels {

using namespace monojit::ir;

namespace {
constexpr int kHalfWave = 32;
}  // namespace

HeadDims norm_head(const HeadDims& e, const HeadBFloat16& gamma, float eps) {
  Float32 squares = 0.0F;
  for (const Float32 x : e) squares = fma(x, x, squares);
  squares = half_wave_sum(squares);
  const Float32 rstd = rsq(squares / static_cast<float>(kHalfWave * kLaneDims) + eps);
  return (e * HeadDims(rstd)) * (extend<float>(gamma) + 1.0F);
}

HeadDims rotate_head(const HeadDims& n, const Int32& dim, const HeadBFloat16& cosine, const HeadBFloat16& sine,
                     int rotary) {
  const HeadDims product = lane_xor(n, rotary / 2 / kLaneDims) * extend<float>(sine);
  const HeadDims addend = select(dim < rotary / 2, -product, product);
  return select(dim < rotary, fma(n, extend<float>(cosine), addend), n);
}

}  // namespace monojit::kernels
