#include "kernels/minimax_m3/k1/emit/norm.h"

#include "kernels/common/emit/division.h"
#include "kernels/common/emit/fp8.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kThreadElements = 8;
constexpr int kHalfThread = kThreadElements / 2;
constexpr int kWaveElements = kHidden / kWaves;
constexpr int kRowOfLanes = 16;
constexpr int kHalfWave = 32;
constexpr int kWave = 64;

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
  const auto inputs_of = [&](const Uniform<Ptr<BFloat16, Global>>& row) {
    return Inputs{load<8>(at_byte(row, a_ * 2)), load<4>(at_byte(row, b_ * 2))};
  };
  gamma_ = inputs_of(k_.g_in);
  for (int i = 0; i < tokens; ++i) {
    inputs_.emplace_back(inputs_of(k_.ar + first_ + i * kHidden), inputs_of(k_.res + first_ + i * kHidden));
  }
}

void Norm::add_residual() {
  for (const auto& [ar, res] : inputs_) {
    rows_.push_back({extend<float>(ar.a) + extend<float>(res.a), extend<float>(ar.b) + extend<float>(res.b)});
  }
}

void Norm::store_residual(int index) const {
  const auto row = BufferResource(k_.h_out + first_ + index * kHidden);
  const BufferAccess access{.policy = k_.output_policy()};
  store(row, a_ * 2, round_bf16(rows_[index].a), access);
  store(row, b_ * 2, round_bf16(rows_[index].b), access);
}

std::vector<Float32> Norm::quantise(const Sink& eight, const HalfSink& four) {
  put_square_sums();
  barrier();
  const Float32 rstd = reciprocal_rms();
  k_.timeline.stamp(Stamp::kSquaresKnown);
  std::vector<Row> normal;
  for (int i = 0; i < tokens_; ++i) normal.push_back(normalised(i, of_row(rstd, i)));
  put_maxima(normal);
  barrier();
  const Float32 half_scale = activation_scale();
  const Float32 half_reciprocal = 1.0F / half_scale;
  std::vector<Float32> scales;
  for (int i = 0; i < tokens_; ++i) {
    const Float32 scale = of_row(half_scale, i);
    const Float32 reciprocal = of_row(half_reciprocal, i);
    const Eight a = divide(normal[i].a, Eight(scale), Eight(reciprocal));
    const Four b = divide(normal[i].b, Four(scale), Four(reciprocal));
    eight(i, a_, vec(kernels::pack_fp8(a.low()), kernels::pack_fp8(a.high())));
    four(i, b_, kernels::pack_fp8(b));
    scales.push_back(scale);
  }
  return scales;
}

Int32 Norm::half_row() const { return tokens_ == 1 ? Int32(0) : lane_id() / kHalfWave; }

Float32 Norm::of_row(const Float32& half_wave_value, int index) const {
  return tokens_ == 1 ? half_wave_value : readlane(half_wave_value, index * kHalfWave);
}

// The upper lane goes on where the lower one with the thread's first elements stopped: its sum is the thread's.
Float32 Norm::squares_of_b(const Row& row) const {
  const Float32 first_half = lane_xor(add_squares(0.0F, row.b), kHalfWave);
  return add_squares(select(upper_half(), first_half, 0.0F), row.b);
}

// §6.3: 24 sums a row: of the threads A of lanes 0..31, of 32..63, and of the threads B of each wave. Two reductions
// run in one, so that every 16 lanes end with one sum.
void Norm::put_square_sums() const {
  const Int32 lane = lane_id();
  const auto warps = k_.red + (wave_id() * 3 + kRedSums);
  const auto a = [&](int index) { return add_squares(0.0F, rows_[index].a); };
  Float32 b = squares_of_b(rows_.back());
  if (tokens_ == 1) {  // of lanes 16..31 there is none: B's are in the upper lanes
    const Float32 sums = half_wave_sums(a(0), b);
    If((lane % kRowOfLanes == 0) & (lane != kRowOfLanes),
       [&] { store(warps + (lane + kRowOfLanes) / kHalfWave, sums); });
    return;
  }
  const Float32 sums = half_wave_sums(a(0), a(1));
  // The first row lends its upper lanes' sums to the lower lanes.
  b = half_wave_sum(select(upper_half(), b, lane_xor(squares_of_b(rows_.front()), kHalfWave)));
  If(lane % kRowOfLanes == 0, [&] {
    const Int32 row = lane / kRowOfLanes % 2 * kNormWarps;
    store(warps + (row + lane / kHalfWave), sums);
    If(lane % kHalfWave == 0, [&] { store(warps + (half_row() * kNormWarps + 2), b); });
  });
}

Float32 Norm::reciprocal_rms() const {
  const Int32 warp = lane_id() % kHalfWave;
  const Float32 one = load(k_.red + (min(warp, kNormWarps - 1) + half_row() * kNormWarps + kRedSums));
  const Float32 total = half_wave_sum(select(warp < kNormWarps, one, 0.0F));
  return rsq(divide_by(total, kHidden) + k_.key.eps);
}

Norm::Row Norm::normalised(int index, const Float32& rstd) const {
  const Row& row = rows_[index];
  return {(row.a * Eight(rstd)) * (extend<float>(gamma_.a) + 1.0F),
          (row.b * Four(rstd)) * (extend<float>(gamma_.b) + 1.0F)};
}

void Norm::put_maxima(const std::vector<Row>& rows) const {
  std::vector<Float32> largest;
  for (const Row& row : rows) {
    Float32 of_lane = 0.0F;
    for (const Float32 x : row.a) of_lane = max(of_lane, abs(x));
    for (const Float32 x : row.b) of_lane = max(of_lane, abs(x));
    largest.push_back(max(of_lane, lane_xor(of_lane, kHalfWave)));
  }
  const Float32 maximum = half_wave_max(tokens_ == 1 ? largest[0] : select(upper_half(), largest[1], largest[0]));
  If(lane_id() % kHalfWave == 0, [&] { store(k_.red + (wave_id() + half_row() * kWaves + kRedMaxima), maximum); });
}

Float32 Norm::activation_scale() const {
  const Vec<Float32, kWaves> maxima = load<kWaves>(k_.red + (half_row() * kWaves + kRedMaxima));
  Float32 largest = maxima[0];
  for (int wave = 1; wave < kWaves; ++wave) largest = max(largest, maxima[wave]);
  return select(largest == 0.0F, 1.0F, divide_by(largest, k_.activation_max));
}

}  // namespace monojit::kernels::minimax_m3
