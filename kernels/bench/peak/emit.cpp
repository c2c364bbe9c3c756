#include "kernels/bench/peak/emit.h"

#include <vector>

#include "ir/dsl.h"
#include "kernels/bench/peak/key.h"

namespace monojit::kernels::bench {

using namespace monojit::ir;

namespace {

constexpr int kChains = 8;     // enough that no instruction waits for the one before it
constexpr int kSteps = 16;     // of each chain in one round of the loop
constexpr float kPull = 0.5F;  // keeps the chains bounded

/// A number in -1..1 of its own for every lane and `index`, cheap and never simple.
Float32 seed(int index) {
  const Int32 mixed = (lane_id() * 37 + index * 101) & 127;
  return convert<Float32>(mixed) * (1.0F / 64) - 1.0F;
}

/// One step: an f32 FMA, an addition, and four integer instructions.
void valu_step(Var<Float32>& x, Var<Int32>& n, int step) {
  x = fma(x, Float32(kPull), seed(step));
  n = (n ^ (n << 3)) + lane_id();
}

Float32 valu(const Uniform<Int32>& rounds) {
  std::vector<Var<Float32>> x;
  std::vector<Var<Int32>> n;
  for (int i = 0; i < kChains; ++i) {
    x.emplace_back(seed(i));
    n.emplace_back(lane_id() + i);
  }
  For(0, rounds, [&](const Int32&) {
    for (int step = 0; step < kSteps; ++step) {
      for (int i = 0; i < kChains; ++i) valu_step(x[i], n[i], step);
    }
  });
  Float32 sum = 0.0F;
  for (int i = 0; i < kChains; ++i) sum = sum + x[i] + convert<Float32>(n[i].value());
  return sum;
}

template <int N>
Vec<BFloat16, N> operand(int index) {
  Vec<BFloat16, N> values(round_bf16(seed(index)));
  for (int i = 1; i < N; ++i) values.set(i, round_bf16(seed(index + i)));
  return values;
}

Vec<Float32, 4> matrix_step(const Vec<BFloat16, 8>& a, const Vec<BFloat16, 8>& b, const Vec<Float32, 4>& c, bool wide) {
  return wide ? mfma_f32_16x16x32_bf16(a, b, c) : mfma_f32_16x16x16_bf16(a.low(), b.low(), c);
}

Float32 mfma_bf16(const Uniform<Int32>& rounds, bool wide) {
  const Vec<BFloat16, 8> a = operand<8>(1);
  const Vec<BFloat16, 8> b = operand<8>(2);
  std::vector<Var<Vec<Float32, 4>>> c;
  c.reserve(kChains);
  for (int i = 0; i < kChains; ++i) c.emplace_back(Vec<Float32, 4>(seed(i)));
  For(0, rounds, [&](const Int32&) {
    for (int step = 0; step < kSteps; ++step) {
      for (Var<Vec<Float32, 4>>& chain : c) chain = matrix_step(a, b, chain, wide);
    }
  });
  Float32 sum = 0.0F;
  for (const Var<Vec<Float32, 4>>& chain : c) sum = sum + chain.value()[0] + chain.value()[3];
  return sum;
}

}  // namespace

void emit_peak(Kernel& kernel, const BuildKey& build_key) {
  const auto out = kernel.argument<Ptr<Float32, Global>>("out");
  const auto rounds = kernel.argument<Int32>("rounds");
  const bool wide = kernel.target().arch == "gfx950";
  const Float32 result = peak_key(build_key).unit == PeakUnit::kValu ? valu(rounds) : mfma_bf16(rounds, wide);
  store(out + (workgroup_id() * kPeakThreads + thread_id()), result);
}

}  // namespace monojit::kernels::bench
