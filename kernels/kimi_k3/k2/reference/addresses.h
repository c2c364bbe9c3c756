#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kimi_k3/model.h"

/// Where the values of the experts' weights lie (specification §2.2, §2.3).
namespace monojit::kernels::kimi_k3 {

inline constexpr int kTileRows = 16;
inline constexpr int kTileColumns = 128;
inline constexpr std::int64_t kTileBytes = kTileRows * kTileColumns / 2;

/// One expert's matrix of FP4 values and its scales.
struct ExpertMatrix {
  int rows = 0;
  int columns = 0;
  int scale_columns = 0;  ///< of a row, undefined ones behind the last block among them

  constexpr std::int64_t weight_bytes() const { return std::int64_t{rows} * columns / 2; }
  constexpr std::int64_t scale_bytes() const { return std::int64_t{rows} * scale_columns; }

  /// Of tile (16 rows from 16 row_group, 128 columns from 128 step), from the expert's first byte.
  constexpr std::int64_t tile_byte(int row_group, int step) const {
    return (std::int64_t{row_group} * (columns / kTileColumns) + step) * kTileBytes;
  }
  /// Of the byte that holds (row, column); an even column is in the low nibble.
  constexpr std::int64_t weight_byte(int row, int column) const {
    const int in_tile = column % kTileColumns;
    return tile_byte(row / kTileRows, column / kTileColumns) + 16 * (16 * (in_tile / 32) + row % kTileRows) +
           in_tile % 32 / 2;
  }
  /// Of the scale of (row, block of 32 columns), from the expert's first scale.
  constexpr std::int64_t scale_byte(int row, int block) const {
    const int a = row / 16 % 2;
    const int d = block / 4 % 2;
    const std::int64_t group = std::int64_t{row / 32} * (scale_columns / 8) + block / 8;
    return (((group * 4 + block % 4) * 16 + row % 16) * 2 + d) * 2 + a;
  }
};

inline constexpr ExpertMatrix kGateUpMatrix{2 * kIntermediate, kLatent, kLatentBlocks};
inline constexpr ExpertMatrix kDownMatrix{kLatent, kIntermediate, kScaleColumns2};
static_assert(kGateUpMatrix.weight_bytes() == 1376256 && kGateUpMatrix.scale_bytes() == 86016);
static_assert(kDownMatrix.weight_bytes() == 688128 && kDownMatrix.scale_bytes() == 57344);

/// Bytes of weights and scales that a rank has to read at least for tokens that pick so many different experts.
constexpr std::int64_t least_weight_bytes(std::size_t experts) {
  constexpr std::int64_t kHiddenColumns = kCoreWidth + kSharedIntermediate;                   // w_o, w_sd
  constexpr std::int64_t kHiddenRows = kRankExperts + kRankLatent + 2 * kSharedIntermediate;  // w_gate, w_ld, w_sgu
  constexpr std::int64_t kUp = std::int64_t{kRankColumns} * kLatent;
  constexpr std::int64_t kDense = 2 * (kHidden * (kHiddenColumns + kHiddenRows) + kUp);
  constexpr std::int64_t kExpert = kGateUpMatrix.weight_bytes() + kGateUpMatrix.scale_bytes() +
                                   kDownMatrix.weight_bytes() + kDownMatrix.scale_bytes();
  return kDense + kExpert * static_cast<std::int64_t>(experts);
}

}  // namespace monojit::kernels::kimi_k3
