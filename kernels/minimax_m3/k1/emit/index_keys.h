#pragma once

#include <array>

#include "kernels/minimax_m3/k1/emit/index_query.h"

namespace monojit::kernels::minimax_m3 {

/// Keys of a tile; tiles of a block.
inline constexpr int kTileKeys = 16;
inline constexpr int kTiles = kBlock / kTileKeys;

/// Bytes 32 g .. 32 g + 31 of key 16 tile + c, in lane 16 g + c.
using RawTile = std::array<Vec<Int32, 4>, 2>;

/// Puts the loads of a tile of keys in flight. `page`: block of the index cache.
RawTile load_key_tile(const Context& k, const Uniform<Int32>& page, const Int32& tile);

/// MFMA A operands of a tile: of chunk s, lane 16 g + c has dims 32 s + 8 g .. + 7 of key c.
using KeyOperand = std::array<Vec<BFloat16, 8>, kHeadDim / 32>;
KeyOperand key_operand(const RawTile& raw);

/// Dot products of a tile of keys with 16 queries, summed over the dims in f32 by the matrix core (specification §8.5).
/// Item e of lane 16 g + c: key 4 g + e, column c.
Vec<Float32, 4> multiply(const KeyOperand& keys, const QueryOperand& queries);

}  // namespace monojit::kernels::minimax_m3
