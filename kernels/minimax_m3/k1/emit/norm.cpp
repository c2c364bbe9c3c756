#include "kernels/minimax_m3/k1/emit/norm.h"

#include "kernels/common/emit/fp8.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kThreadElements = 8;
constexpr int kHalfThread = kThreadElements / 2;
constexpr int kWaveElements = kHidden / kWaves;
constexpr int kHalfWave = 32;
constexpr int kWave = 64;

Vec<Float32, 8> sum(const Vec<BFloat16, 8>& a, const Vec<BFloat16, 8>& b) { return extend<float>(a) + extend<float>(b); }
Vec<Float32, 4> sum(const Vec<BFloat16, 4>& a, const Vec<BFloat16, 4>& b) { return extend<float>(a) + extend<float>(b); }

template <class Elements>
Float32 add_squares(Float32 squares, const Elements& elements) {
  for (const Float32 x : elements) squares = fma(x, x, squares);
  return squares;
}

Bool upper_half() { return lane_id() >= kHalfWave; }

}  // namespace

Norm::Norm(Context& context, const Uniform<Int32>& first_token, int tokens)
    : k_(context), tokens_(tokens), first_(first_token * kHidden) {
  const Int32 wave = wave_id() * kWaveElements;
  const Int32 half = lane_id() % kHalfWave * kThreadElements + select(upper_half(), kHalfThread, Int32(0));
  a_ = wave + lane_id() * kThreadElements;
  b_ = wave + kWave * kThreadElements + half;
  gamma_a_ = load<kThreadElements>(k_.g_in + a_);
  gamma_b_ = load<kHalfThread>(k_.g_in + b_);
  struct Inputs {
    Vec<BFloat16, 8> ar_a, res_a;
    Vec<BFloat16, 4> ar_b, res_b;
  };
  std::vector<Inputs> inputs;
  for (int i = 0; i < tokens; ++i) {
    const auto ar = k_.ar + first_ + i * kHidden;
    const auto res = k_.res + first_ + i * kHidden;
    inputs.push_back({.ar_a = load<8>(ar + a_), .res_a = load<8>(res + a_), .ar_b = load<4>(ar + b_),
                      .res_b = load<4>(res + b_)});
  }
  for (const Inputs& in : inputs) rows_.push_back({sum(in.ar_a, in.res_a), sum(in.ar_b, in.res_b)});
}

void Norm::store_residual(int index) const {
  const auto row = BufferResource(k_.h_out + first_ + index * kHidden);
  const BufferAccess access{.policy = k_.output_policy()};
  store(row, a_ * 2, round_bf16(rows_[index].a), access);
  store(row, b_ * 2, round_bf16(rows_[index].b), access);
}

std::vector<Float32> Norm::quantise(const Sink& eight, const HalfSink& four) {
  for (int i = 0; i < tokens_; ++i) put_square_sums(i);
  barrier();
  std::vector<Row> normal;
  for (int i = 0; i < tokens_; ++i) normal.push_back(normalised(i));
  k_.timeline.stamp(Stamp::kSquaresKnown);
  for (int i = 0; i < tokens_; ++i) put_maximum(normal[i], i);
  barrier();
  std::vector<Float32> scales;
  for (int i = 0; i < tokens_; ++i) {
    const Float32 scale = activation_scale(i);
    const Float32 reciprocal = 1.0F / scale;
    const Eight a = divide(normal[i].a, Eight(scale), Eight(reciprocal));
    const Four b = divide(normal[i].b, Four(scale), Four(reciprocal));
    eight(i, a_, vec(kernels::pack_fp8(a.low()), kernels::pack_fp8(a.high())));
    four(i, b_, kernels::pack_fp8(b));
    scales.push_back(scale);
  }
  return scales;
}

// The upper lane goes on where the lower one with the thread's first elements stopped.
Float32 Norm::squares_of_b(const Row& row) const {
  const Float32 first_half = lane_xor(add_squares(0.0F, row.b), kHalfWave);
  return add_squares(select(upper_half(), first_half, 0.0F), row.b);
}

// §6.3: 24 sums a row: of the threads A of lanes 0..31, of 32..63, and of the threads B of each wave.
void Norm::put_square_sums(int index) {
  const Int32 lane = lane_id();
  const Float32 a = half_wave_sum(add_squares(0.0F, rows_[index].a));
  const Float32 b = half_wave_sum(squares_of_b(rows_[index]));
  const auto sums = k_.red + (wave_id() * 3 + (kRedSums + index * kNormWarps));
  If(lane % kHalfWave == 0, [&] { store(sums + (lane / kHalfWave), a); });
  If(lane == kHalfWave, [&] { store(sums + 2, b); });
}

Float32 Norm::reciprocal_rms(int index) const {
  const Int32 warp = lane_id() % kHalfWave;
  const Float32 one = load(k_.red + (min(warp, kNormWarps - 1) + (kRedSums + index * kNormWarps)));
  const Float32 total = half_wave_sum(select(warp < kNormWarps, one, 0.0F));
  return rsq(total / static_cast<float>(kHidden) + k_.key.eps);
}

Norm::Row Norm::normalised(int index) const {
  const Float32 rstd = reciprocal_rms(index);
  const Row& row = rows_[index];
  return {(row.a * Eight(rstd)) * (extend<float>(gamma_a_) + 1.0F), (row.b * Four(rstd)) * (extend<float>(gamma_b_) + 1.0F)};
}

void Norm::put_maximum(const Row& row, int index) const {
  Float32 largest = 0.0F;
  for (const Float32 x : row.a) largest = max(largest, abs(x));
  for (const Float32 x : row.b) largest = max(largest, abs(x));
  largest = wave_max(largest);
  If(lane_id() == 0, [&] { store(k_.red + (wave_id() + (kRedMaxima + index * kWaves)), largest); });
}

Float32 Norm::activation_scale(int index) const {
  const Vec<Float32, kWaves> maxima = load<kWaves>(k_.red + (kRedMaxima + index * kWaves));
  Float32 largest = maxima[0];
  for (int wave = 1; wave < kWaves; ++wave) largest = max(largest, maxima[wave]);
  return select(largest == 0.0F, 1.0F, largest / k_.activation_max);
}

}  // namespace monojit::kernels::minimax_m3
