// Arithmetic of lanes, LDS and memory.
#include <vector>

#include "kernels/bench/peak/emit_units.h"
#include "kernels/bench/peak/key.h"

namespace monojit::kernels::bench {

using namespace monojit::ir;

namespace {

constexpr int kChains = 8;     // enough that no instruction waits for the one before it
constexpr int kSteps = 16;     // of each chain in one round of the loop
constexpr float kPull = 0.5F;  // keeps the chains bounded

/// One step: an f32 FMA, an addition, and four integer instructions.
void valu_step(Var<Float32>& x, Var<Int32>& n, int step) {
  x = fma(x, Float32(kPull), seed(lane_id(), step));
  n = (n ^ (n << 3)) + lane_id();
}

template <int N>
void move_lds(const LdsArray<Float32>& array, int step) {
  constexpr Access kEach{.repeat = true};
  const int half = static_cast<int>(array.size()) / 2;  // written, the other read
  const Ptr<Float32, Local> place = array + (thread_id() * N + step);
  if constexpr (N == 1) {
    store(place, load(place + half, kEach), kEach);
  } else {
    store(place, load<N>(place + half, kEach), kEach);
  }
}

}  // namespace

Float32 valu(const Uniform<Int32>& rounds) {
  std::vector<Var<Float32>> x;
  std::vector<Var<Int32>> n;
  for (int i = 0; i < kChains; ++i) {
    x.emplace_back(seed(lane_id(), i));
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

Float32 lds(const Uniform<Int32>& rounds) {
  LdsLayout layout;
  const auto array = layout.array<Float32>("data", kPeakLdsWords);
  for (int word = 0; word < kPeakLdsWords; word += kPeakThreads)
    store(array + (thread_id() + word), seed(lane_id(), word));
  barrier();
  For(0, rounds, [&](const Int32&) {
    for (int step = 0; step < kPeakLdsSteps; ++step) {
      move_lds<4>(array, 4 * step);
      move_lds<2>(array, 2 * step);
      move_lds<1>(array, step);
    }
  });
  return load(array + thread_id());
}

Float32 copy(const Uniform<Ptr<Float32, Global>>& data, const Uniform<Int32>& rounds) {
  const BufferResource buffer(data);
  const Int32 place = (workgroup_id() * kPeakThreads + thread_id()) * kPeakCopyBytes;
  constexpr int kRoundBytes = kPeakWorkgroups * kPeakThreads * kPeakCopyBytes;
  For(0, rounds, [&](const Uniform<Int32>& round) {
    const auto words = load<Vec<Int32, 4>>(buffer, place, {.scalar_offset = round * kRoundBytes});
    store(buffer, place, words, {.scalar_offset = (rounds + round) * kRoundBytes});
  });
  return 0.0F;
}

}  // namespace monojit::kernels::bench
