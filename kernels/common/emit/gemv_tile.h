#pragma once

#include "ir/dsl.h"

namespace monojit::kernels {

/// Sums over waves of 16x16 MFMA results, through LDS words [wave][lane][4].
///
/// Lane l's item e of a result is row 4 (l div 16) + e of column l mod 16.
inline constexpr int kTileRows = 16;
inline constexpr int kTileColumns = 16;
inline constexpr int kTileWords = kTileRows * kTileColumns;  // LDS floats a wave

/// Stores this wave's result at its place in `partials`. A barrier has to follow.
void put_partial_tile(const ir::LdsArray<ir::Float32>& partials, const ir::Vec<ir::Float32, 4>& result);

/// Element (row, column), summed from 0 in the order of the waves.
ir::Float32 sum_partial_tiles(const ir::LdsArray<ir::Float32>& partials, const ir::Int32& row, const ir::Int32& column,
                              int waves);

/// Elements (2 pair, column) and (2 pair + 1, column), likewise.
ir::Vec<ir::Float32, 2> sum_partial_row_pair(const ir::LdsArray<ir::Float32>& partials, const ir::Int32& pair,
                                             const ir::Int32& column, int waves);

}  // namespace monojit::kernels
