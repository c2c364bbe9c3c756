#include "kernels/minimax_m3/k1/emit/norm.h"

#include "kernels/common/emit/fp8.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kThreadElements = 8;
constexpr int kWaveThreads = kHidden / kThreadElements / kWaves;  // logical threads of a wave: 96
constexpr int kHalfWave = 32;
constexpr int kWave = 64;

Vec<BFloat16, 8> load_slice(const Uniform<Ptr<BFloat16, Global>>& row, const Int32& thread) {
  return load<kThreadElements>(row + thread * kThreadElements);
}

}  // namespace

Norm::Norm(Context& context) : k_(context) {
  const Int32 first = wave_id() * kWaveThreads;
  thread_ = {first + lane_id(), first + kWave + min(lane_id(), kHalfWave - 1)};
  for (int slice = 0; slice < kSlices; ++slice) gamma_[slice] = load_slice(k_.g_in, thread_[slice]);
  std::vector<std::array<Vec<BFloat16, 8>, 2 * kSlices>> raw;
  for (int token = 0; token < k_.key.tokens; ++token) {
    const auto ar = k_.ar + token * kHidden;
    const auto res = k_.res + token * kHidden;
    raw.push_back({load_slice(ar, thread_[0]), load_slice(ar, thread_[1]), load_slice(res, thread_[0]),
                   load_slice(res, thread_[1])});
  }
  for (const auto& r : raw) {
    rows_.push_back({{extend<float>(r[0]) + extend<float>(r[2]), extend<float>(r[1]) + extend<float>(r[3])}});
  }
}

void Norm::store_residual(int token) const {
  for (int slice = 0; slice < kSlices; ++slice) {
    store(k_.h_out + token * kHidden + thread_[slice] * kThreadElements, round_bf16(rows_[token].sum[slice]));
  }
}

std::vector<Float32> Norm::quantise() {
  const int tokens = k_.key.tokens;
  for (int token = 0; token < tokens; ++token) put_square_sums(token);
  barrier();
  std::vector<Row> normal;
  for (int token = 0; token < tokens; ++token) normal.push_back(normalised(token));
  k_.timeline.stamp(Stamp::kSquaresKnown);
  for (int token = 0; token < tokens; ++token) put_maximum(normal[token], token);
  barrier();
  std::vector<Float32> scales;
  for (int token = 0; token < tokens; ++token) {
    scales.push_back(activation_scale(token));
    put_activations(normal[token], token, scales.back());
  }
  barrier();
  k_.timeline.stamp(Stamp::kActivationsQuantised);
  return scales;
}

Float32 Norm::slice_squares(const Row& row, int slice) const {
  Float32 squares = 0.0F;
  for (const Float32 x : row.sum[slice]) squares = fma(x, x, squares);
  return squares;
}

// §6.3: 24 sums a row, of the slices A of lanes 0..31, A of 32..63 and B of 0..31 of each wave.
void Norm::put_square_sums(int token) {
  const Int32 lane = lane_id();
  const Float32 a = half_wave_sum(slice_squares(rows_[token], 0));
  const Float32 b = half_wave_sum(select(lane < kHalfWave, slice_squares(rows_[token], 1), 0.0F));
  const auto sums = k_.red + (wave_id() * 3 + (kRedSums + token * kNormWarps));
  If(lane % kHalfWave == 0, [&] { store(sums + (lane / kHalfWave), a); });
  If(lane == 0, [&] { store(sums + 2, b); });
}

Float32 Norm::reciprocal_rms(int token) const {
  const Int32 warp = lane_id() % kHalfWave;
  const Float32 sum = load(k_.red + (min(warp, kNormWarps - 1) + (kRedSums + token * kNormWarps)));
  const Float32 total = half_wave_sum(select(warp < kNormWarps, sum, 0.0F));
  return rsq(total / static_cast<float>(kHidden) + k_.key.eps);
}

Norm::Row Norm::normalised(int token) const {
  const Float32 rstd = reciprocal_rms(token);
  Row row;
  for (int slice = 0; slice < kSlices; ++slice) {
    row.sum[slice] = (rows_[token].sum[slice] * Elements(rstd)) * (extend<float>(gamma_[slice]) + 1.0F);
  }
  return row;
}

void Norm::put_maximum(const Row& row, int token) const {
  Float32 largest = 0.0F;
  for (const Elements& slice : row.sum) {
    for (const Float32 x : slice) largest = max(largest, abs(x));
  }
  largest = wave_max(largest);
  If(lane_id() == 0, [&] { store(k_.red + (wave_id() + (kRedMaxima + token * kWaves)), largest); });
}

Float32 Norm::activation_scale(int token) const {
  const Vec<Float32, kWaves> maxima = load<kWaves>(k_.red + (kRedMaxima + token * kWaves));
  Float32 largest = maxima[0];
  for (int wave = 1; wave < kWaves; ++wave) largest = max(largest, maxima[wave]);
  return select(largest == 0.0F, 1.0F, largest / k_.activation_max);
}

void Norm::put_activations(const Row& row, int token, const Float32& scale) const {
  const Elements divisor = scale;
  const Elements reciprocal = 1.0F / scale;
  for (int slice = 0; slice < kSlices; ++slice) {
    const Elements x = divide(row.sum[slice], divisor, reciprocal);
    const Vec<Int32, 2> packed = vec(kernels::pack_fp8(x.low()), kernels::pack_fp8(x.high()));
    store(pointer_cast<Int32>(k_.x8 + (thread_[slice] * kThreadElements + token * kActivationPitch)), packed);
  }
}

}  // namespace monojit::kernels::minimax_m3
