#include "kernels/common/emit/gemv_tile.h"

namespace monojit::kernels {

using namespace monojit::ir;

namespace {
constexpr int kItems = 4;  // of a lane
}  // namespace

void put_partial_tile(const LdsArray<Float32>& partials, const Vec<Float32, 4>& result) {
  store(partials + thread_id() * kItems, result);
}

Float32 sum_partial_tiles(const LdsArray<Float32>& partials, const Int32& row, const Int32& column, int waves) {
  const auto element = partials + (row / kItems * (kItems * kTileColumns) + column * kItems + row % kItems);
  Float32 sum = 0.0F;
  for (int wave = 0; wave < waves; ++wave) sum = sum + load(element + wave * kTileWords);
  return sum;
}

Vec<Float32, 2> sum_partial_row_pair(const LdsArray<Float32>& partials, const Int32& pair, const Int32& column,
                                     int waves) {
  const auto element = partials + (pair / 2 * (kItems * kTileColumns) + column * kItems + pair % 2 * 2);
  Vec<Float32, 2> sum = 0.0F;
  for (int wave = 0; wave < waves; ++wave) sum = sum + load<2>(element + wave * kTileWords);
  return sum;
}

}  // namespace monojit::kernels
