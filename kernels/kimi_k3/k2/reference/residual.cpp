#include "kernels/kimi_k3/k2/reference/residual.h"

#include <bit>
#include <cstddef>

#include "kernels/common/reference/float32.h"
#include "kernels/kimi_k3/k2/roles.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::bf16_value;
using reference::round_bf16;

constexpr float kLog2e = std::bit_cast<float>(0x3FB8AA3BU);
constexpr float kInverseHidden = std::bit_cast<float>(0x39124925U);
constexpr float kNoSource = std::bit_cast<float>(0xFF61B1E6U);  // -3e38
constexpr int kLaneColumns = 4;
constexpr std::size_t kSliceLanes = kSliceColumns / kLaneColumns;  // a half wave

class Mixer {
 public:
  Mixer(const K2Key& key, const ResidualInputs& in)
      : tokens_(static_cast<std::size_t>(key.tokens)),
        sources_(static_cast<std::size_t>(key.sources())),
        key_(key),
        in_(in) {
    out_.part.resize(kSlices * tokens_ * sources_ * 2);
    out_.wgt.resize(tokens_ * (sources_ + 1));
    out_.msq.resize(kSlices * tokens_);
    out_.prefix.resize(tokens_ * kHidden);
    out_.x.resize(tokens_ * kHidden);
    values_.resize(tokens_ * sources_ * kHidden);
    mixed_.resize(tokens_ * kHidden);
  }

  ResidualResult run() {
    for (std::size_t t = 0; t < tokens_; ++t) {
      for (std::size_t source = 0; source < sources_; ++source) take_source(t, source);
      gate(t);
      mix(t);
      norm(t);
    }
    return std::move(out_);
  }

 private:
  float* source_row(std::size_t t, std::size_t source) { return &values_[(t * sources_ + source) * kHidden]; }

  void take_source(std::size_t t, std::size_t source) {
    float* const row = source_row(t, source);
    if (source + 1 == sources_) {
      for (std::size_t i = 0; i < kHidden; ++i) {
        const float delta = bf16_value(in_.delta[t * kHidden + i]);
        row[i] = key_.reset ? delta : round_bf16(bf16_value(in_.prefix[t * kHidden + i]) + delta);
        out_.prefix[t * kHidden + i] = bf16_bits(row[i]);
      }
    } else {
      const std::size_t first =
          t * static_cast<std::size_t>(in_.token_stride) + source * static_cast<std::size_t>(in_.block_stride);
      for (std::size_t i = 0; i < kHidden; ++i) row[i] = bf16_value(in_.blocks[first + i]);
    }
    for (std::size_t c = 0; c < kSlices; ++c)
      slice_part(row, c, &out_.part[((c * tokens_ + t) * sources_ + source) * 2]);
  }

  void slice_part(const float* row, std::size_t c, float* part) const {
    reference::HalfWave squares{};
    reference::HalfWave scores{};
    for (std::size_t lane = 0; lane < kSliceLanes; ++lane) {
      const std::size_t first = c * kSliceColumns + lane * kLaneColumns;
      for (std::size_t j = 0; j < kLaneColumns; ++j) {
        const float v = row[first + j];
        const float weight = bf16_value(in_.norm_weight[first + j]) * bf16_value(in_.score_weight[first + j]);
        const float square = v * v;
        const float score = v * weight;
        squares[lane] = j == 0 ? square : squares[lane] + square;
        scores[lane] = j == 0 ? score : scores[lane] + score;
      }
    }
    part[0] = reference::half_wave_sum(squares);
    part[1] = reference::half_wave_sum(scores);
  }

  float part_sum(std::size_t t, std::size_t source, std::size_t which) const {
    std::array<float, kSlices> values{};
    for (std::size_t c = 0; c < kSlices; ++c)
      values[c] = out_.part[((c * tokens_ + t) * sources_ + source) * 2 + which];
    return slice_sum(values);
  }

  void gate(std::size_t t) {
    std::array<float, kMaxBlocks + 1> logit{};
    float largest = kNoSource;
    for (std::size_t source = 0; source < sources_; ++source) {
      const float rstd = reference::rsq(part_sum(t, source, 0) * kInverseHidden + key_.eps);
      logit[source] = (part_sum(t, source, 1) * rstd) * kLog2e;
      largest = reference::maximum(largest, logit[source]);
    }
    reference::Wave numerators{};
    float* const weights = &out_.wgt[t * (sources_ + 1)];
    for (std::size_t source = 0; source < sources_; ++source) {
      numerators[source] = reference::exp2(logit[source] - largest);
      weights[source] = numerators[source];
    }
    weights[sources_] = reference::wave_sum(numerators);
  }

  void mix(std::size_t t) {
    const float* const weights = &out_.wgt[t * (sources_ + 1)];
    float* const row = &mixed_[t * kHidden];
    for (std::size_t source = 0; source < sources_; ++source) {
      const float* const values = source_row(t, source);
      for (std::size_t i = 0; i < kHidden; ++i) row[i] = row[i] + weights[source] * values[i];
    }
    for (std::size_t i = 0; i < kHidden; ++i) row[i] = row[i] / weights[sources_];
    for (std::size_t c = 0; c < kSlices; ++c) out_.msq[c * tokens_ + t] = square_sum(row + c * kSliceColumns);
  }

  static float square_sum(const float* slice) {
    reference::HalfWave squares{};
    for (std::size_t lane = 0; lane < kSliceLanes; ++lane) {
      for (std::size_t j = 0; j < kLaneColumns; ++j) {
        const float v = slice[lane * kLaneColumns + j];
        squares[lane] = j == 0 ? v * v : squares[lane] + v * v;
      }
    }
    return reference::half_wave_sum(squares);
  }

  void norm(std::size_t t) {
    std::array<float, kSlices> squares{};
    for (std::size_t c = 0; c < kSlices; ++c) squares[c] = out_.msq[c * tokens_ + t];
    const float scale = reference::rsq(slice_sum(squares) * kInverseHidden + key_.out_eps);
    for (std::size_t i = 0; i < kHidden; ++i) {
      out_.x[t * kHidden + i] = bf16_bits((mixed_[t * kHidden + i] * scale) * bf16_value(in_.in_weight[i]));
    }
  }

  std::size_t tokens_;
  std::size_t sources_;
  const K2Key& key_;
  const ResidualInputs& in_;
  std::vector<float> values_;  // [S][NS][7168]
  std::vector<float> mixed_;   // [S][7168]
  ResidualResult out_;
};

}  // namespace

float rank_sum(const std::array<float, kRanks>& values) {
  float sum = values[0];
  for (std::size_t rank = 1; rank < kRanks; ++rank) sum = sum + values[rank];
  return sum;
}

float slice_sum(const std::array<float, kSlices>& values) {
  float total = 0;
  for (std::size_t first = 0; first < kSlices; first += kSliceGroup) {
    float group = values[first];
    for (std::size_t i = 1; i < kSliceGroup; ++i) group = group + values[first + i];
    total = first == 0 ? group : total + group;
  }
  return total;
}

ResidualResult mix_residual(const K2Key& key, const ResidualInputs& inputs) { return Mixer(key, inputs).run(); }

}  // namespace monojit::kernels::kimi_k3
