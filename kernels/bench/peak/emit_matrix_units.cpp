#include <vector>

#include "kernels/bench/peak/emit_units.h"

namespace monojit::kernels::bench {

using namespace monojit::ir;

namespace {

constexpr int kChains = 8;    // enough that no MFMA waits for the one before it
constexpr int kOperands = 4;  // of A and of B; each step of a chain is another pair of them
constexpr int kSteps = kOperands * kOperands;
constexpr int kUnitScales = 0x7F7F7F7F;

/// Lanes whose column is past the last different one act as that one.
Int32 column_lane(int columns) {
  const Int32 column = lane_id() & 15;
  return (lane_id() & ~15) | min(column, Int32(columns - 1));
}

Vec<BFloat16, 8> brain_operand(const Int32& lane, int index) {
  Vec<BFloat16, 8> values(round_bf16(seed(lane, index)));
  for (int i = 1; i < 8; ++i) values.set(i, round_bf16(seed(lane, index + i)));
  return values;
}

/// 32 FP4 values of any bits.
Vec<Int32, 4> fp4_operand(int index) {
  Vec<Int32, 4> values(Int32(0));
  for (int i = 0; i < 4; ++i) values.set(i, (lane_id() + (64 * (4 * index + i) + 1)) * 0x1E3779B1);
  return values;
}

/// `step(n, m, c)`: the MFMA of the n-th A and the m-th B.
Float32 chains(const Uniform<Int32>& rounds, const Int32& lane, auto step) {
  std::vector<Var<Vec<Float32, 4>>> c;
  c.reserve(kChains);
  for (int i = 0; i < kChains; ++i) c.emplace_back(Vec<Float32, 4>(0.0F));
  For(0, rounds, [&](const Int32&) {
    for (int i = 0; i < kChains; ++i) c[i] = Vec<Float32, 4>(seed(lane, i));
    for (int n = 0; n < kSteps; ++n) {
      for (Var<Vec<Float32, 4>>& chain : c) chain = step(n / kOperands, n % kOperands, chain.value());
    }
  });
  Float32 sum = 0.0F;
  for (const Var<Vec<Float32, 4>>& chain : c) sum = sum + chain.value()[0] + chain.value()[3];
  return sum;
}

}  // namespace

Float32 mfma_bf16(const Uniform<Int32>& rounds, bool wide, int columns) {
  const Int32 lane = column_lane(columns);
  std::vector<Vec<BFloat16, 8>> a;
  std::vector<Vec<BFloat16, 8>> b;
  for (int i = 0; i < kOperands; ++i) {
    a.push_back(brain_operand(lane_id(), 8 * i + 1));
    b.push_back(brain_operand(lane, 8 * i + 2));
  }
  return chains(rounds, lane, [&](int n, int m, const Vec<Float32, 4>& c) {
    return wide ? mfma_f32_16x16x32_bf16(a[n], b[m], c) : mfma_f32_16x16x16_bf16(a[n].low(), b[m].low(), c);
  });
}

Float32 mfma_fp4(const Uniform<Int32>& rounds) {
  std::vector<Vec<Int32, 4>> a;
  std::vector<Vec<Int32, 4>> b;
  for (int i = 0; i < kOperands; ++i) {
    a.push_back(fp4_operand(i));
    b.push_back(fp4_operand(kOperands + i));
  }
  const MxScale<0> scale{Int32(kUnitScales)};
  return chains(rounds, lane_id(), [&](int n, int m, const Vec<Float32, 4>& c) {
    return mfma_scale_f32_16x16x128<MxFormat::kFp4, MxFormat::kFp4>(a[n], b[m], c, scale, scale);
  });
}

}  // namespace monojit::kernels::bench
