#include "kernels/minimax_m3/k1/emit/activations.h"

#include "kernels/minimax_m3/k1/emit/signal.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kLaneBytes = 16;
constexpr int kWaveBytes = kChunk * kChunksPerWave;

Int32 lane_token(const Context& k) { return min(lane_id() % kTileColumns, k.key.tokens - 1); }

// Of the wave's first chunk, in a row.
Int32 lane_byte() { return wave_id() * kWaveBytes + lane_id() / kTileColumns * kLaneBytes; }

}  // namespace

Activations::Activations(Context& context) : k_(context) {
  if (k_.self_norm()) norm_.emplace(k_, 0, k_.key.tokens);
}

void Activations::fetch(const Uniform<Int32>& row_group) {
  if (k_.self_norm()) {
    normalise(row_group);
    read_lds();
  } else {
    read_x8();
  }
  k_.timeline.stamp(Stamp::kActivationsQuantised);
}

void Activations::normalise(const Uniform<Int32>& row_group) {
  norm_->add_residual();
  for (int token = 0; token < k_.key.tokens; ++token) {
    If(row_group == token, [&] { norm_->store_residual(token); });
  }
  const auto put = [&](int token, const Int32& byte, const auto& codes) {
    store(pointer_cast<Int32>(k_.x8 + (byte + token * kActivationPitch)), codes);
  };
  scales_ = norm_->quantise(put, put);
  for (int token = 0; token < k_.key.tokens; ++token) {
    If(row_group == token, [&] { signal_row(k_, token); });
  }
  barrier();
}

void Activations::read_lds() {
  const auto lane = k_.x8 + (lane_token(k_) * kActivationPitch + lane_byte());
  for (int chunk = 0; chunk < kChunksPerWave; ++chunk) {
    operands_[chunk] = load<4>(pointer_cast<Int32>(lane + chunk * kChunk));
  }
}

// Every wave waits for itself: nothing of X8 goes through LDS, and no barrier is needed.
void Activations::read_x8() {
  lane_scale_ = bitcast<Float32>(k_.x8_scale.poll(lane_token(k_)));
  fence(Scope::kWorkgroup, Order::kAcquire);
  const Int32 lane = lane_token(k_) * kHidden + lane_byte();
  for (int chunk = 0; chunk < kChunksPerWave; ++chunk) {
    operands_[chunk] = load<Vec<Int32, 4>>(k_.scratch, lane,
                                           {.scalar_offset = Uniform<Int32>(static_cast<std::int32_t>(kScratchX8)),
                                            .offset = chunk * kChunk,
                                            .policy = CachePolicy::kDevice});
  }
  sched_barrier();  // all in flight before the first is used
}

Float32 Activations::scale(const Int32& token) const {
  if (!k_.self_norm()) return shuffle(lane_scale_, token);
  return k_.key.tokens == 1 ? scales_[0] : select(token == 0, scales_[0], scales_[1]);
}

}  // namespace monojit::kernels::minimax_m3
