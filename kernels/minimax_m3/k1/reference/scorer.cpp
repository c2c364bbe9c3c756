#include "kernels/minimax_m3/k1/reference/scorer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/common/reference/float32.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::kMfmaK;
using reference::kMfmaRows;

constexpr float kLog2E = std::bit_cast<float>(0x3FB8AA3BU);
constexpr int kLaneElements = 8;  // of an operand of the 16x16x32 MFMA
constexpr int kFp8Fraction = 3;

/// Where element `d` of a chunk of 32 dims stands in the order of the instruction's k. A 16x16x16 MFMA takes four
/// elements of each lane.
constexpr int model_k(int d, int instruction_k) {
  const int lane_group = d / kLaneElements;
  const int element = d % kLaneElements;
  const int part = instruction_k / (kMfmaK / kLaneElements);  // elements of a lane that one MFMA takes
  return element / part * instruction_k + lane_group * part + element % part;
}

/// Every byte as a bf16 operand; a NaN as 0, its key is NaN anyway.
struct KeyTable {
  std::array<float, 256> value{};
  std::array<float, 256> power{};

  explicit KeyTable(reference::Fp8Format format) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (reference::fp8_is_nan(format, static_cast<std::uint8_t>(byte))) continue;
      value[byte] = reference::fp8_value(format, static_cast<std::uint8_t>(byte));
      power[byte] = reference::bf16_power(value[byte]);
    }
  }
};

const KeyTable& key_table(reference::Fp8Format format) {
  static const KeyTable kOcp(reference::Fp8Format::kOcp);
  static const KeyTable kFnuz(reference::Fp8Format::kFnuz);
  return format == reference::Fp8Format::kOcp ? kOcp : kFnuz;
}

/// What every key's values lie between, whatever the format.
constexpr reference::BFloat16Range kKeyRange{0x1p-10F, 0x1p8F, kFp8Fraction};

}  // namespace

float index_scale(float sm_scale) { return sm_scale * kLog2E; }

BlockScorer::BlockScorer(std::span<const IndexQuery> queries, const Chip& chip, reference::MatrixModel model)
    : chip_(chip), model_(model) {
  for (const IndexQuery& query : queries) {
    Query& prepared = queries_.emplace_back();
    prepared.keys = query.keys;
    for (int d = 0; d < kHeadDim; ++d) {
      reference::BFloat16Column& chunk = prepared.chunks[d / kMfmaK];
      const int k = model_k(d % kMfmaK, chip.bf16_mfma_k);
      chunk.value[k] = reference::bf16_value(query.dims[d]);
      chunk.power[k] = reference::bf16_power(chunk.value[k]);
    }
    std::ranges::transform(prepared.chunks, prepared.ranges.begin(), reference::range_of);
  }
}

void BlockScorer::decode(std::span<const std::uint8_t> keys) {
  const KeyTable& table = key_table(chip_.format);
  for (int key = 0; key < kBlock; ++key) {
    const auto bytes = keys.subspan(static_cast<std::size_t>(key) * kHeadDim, kHeadDim);
    nan_keys_[key] =
        std::ranges::any_of(bytes, [&](std::uint8_t byte) { return reference::fp8_is_nan(chip_.format, byte); });
    for (int d = 0; d < kHeadDim; ++d) {
      reference::BFloat16Rows& rows = operands_[key / kMfmaRows][d / kMfmaK];
      const int k = model_k(d % kMfmaK, chip_.bf16_mfma_k);
      rows.value[k][key % kMfmaRows] = table.value[bytes[d]];
      rows.power[k][key % kMfmaRows] = table.power[bytes[d]];
    }
  }
}

reference::MfmaColumn BlockScorer::dots(int tile, const Query& query) const {
  reference::MfmaColumn sums{};
  for (int chunk = 0; chunk < kDimChunks; ++chunk) {
    mfma_bf16(model_, chip_.bf16_mfma_k, operands_[tile][chunk], query.chunks[chunk], kKeyRange, query.ranges[chunk],
              sums);
  }
  return sums;
}

float BlockScorer::maximum(const Query& query, std::int64_t visible) const {
  float largest = -std::numeric_limits<float>::infinity();
  for (int tile = 0; tile * kMfmaRows < visible && tile < kTiles; ++tile) {
    const reference::MfmaColumn sums = dots(tile, query);
    for (int row = 0; row < kMfmaRows && tile * kMfmaRows + row < visible; ++row) {
      const float dot = nan_keys_[tile * kMfmaRows + row] ? std::numeric_limits<float>::quiet_NaN() : sums[row];
      largest = reference::maximum(largest, dot);
    }
  }
  return largest;
}

std::vector<float> BlockScorer::maxima(std::span<const std::uint8_t> keys, std::int64_t block) {
  decode(keys);
  std::vector<float> result;
  for (const Query& query : queries_) result.push_back(maximum(query, query.keys - kBlock * block));
  return result;
}

std::vector<WideScore> wide_block_maxima(std::span<const std::uint8_t> keys, std::int64_t block,
                                         std::span<const IndexQuery> queries, reference::Fp8Format format) {
  const reference::Fp8Table& table = reference::fp8_table(format);
  std::array<std::array<float, kHeadDim>, kBlock> decoded{};
  for (std::size_t i = 0; i < keys.size(); ++i) decoded[i / kHeadDim][i % kHeadDim] = table.value[keys[i]];
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<WideScore> scores;
  for (const IndexQuery& query : queries) {
    WideScore& score = scores.emplace_back(WideScore{kNone, kNone, kNone});
    std::array<float, kHeadDim> dims{};
    std::ranges::transform(query.dims, dims.begin(), reference::bf16_value);
    const std::int64_t visible = std::clamp<std::int64_t>(query.keys - kBlock * block, 0, kBlock);
    for (std::int64_t key = 0; key < visible; ++key) {
      double sum = 0;
      double magnitude = 0;
      for (int d = 0; d < kHeadDim; ++d) {
        const double product = static_cast<double>(decoded[key][d]) * dims[d];
        sum += product;
        magnitude += std::fabs(product);
      }
      const double slack = kScoreBound * magnitude;
      const auto raise = [](double& largest, double value) {
        if (!(value <= largest) && !std::isnan(largest)) largest = value;
      };
      raise(score.value, sum);
      raise(score.low, sum - slack);
      raise(score.high, sum + slack);
    }
  }
  return scores;
}

}  // namespace monojit::kernels::minimax_m3
