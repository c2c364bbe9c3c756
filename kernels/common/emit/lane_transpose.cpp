#include "kernels/common/emit/lane_transpose.h"

namespace monojit::kernels {

using namespace monojit::ir;

namespace {

using Part = Vec<Int32, 2>;

// Lanes with bit `distance` trade their `low` for the `high` of the lane without it.
void trade(Part& low, Part& high, int distance) {
  for (int word = 0; word < 2; ++word) {
    if (target().chip == Chip::kGfx950) {
      const auto swapped =
          distance == 32 ? permlane32_swap(low[word], high[word]) : permlane16_swap(low[word], high[word]);
      low.set(word, swapped.first);
      high.set(word, swapped.second);
      continue;
    }
    const Bool upper = (lane_id() & distance) != 0;
    const Int32 other = lane_xor(select(upper, low[word], high[word]), distance);
    const Int32 mine_low = select(upper, other, low[word]);
    high.set(word, select(upper, high[word], other));
    low.set(word, mine_low);
  }
}

}  // namespace

void transpose_lane_groups(std::array<Part, 4>& parts) {
  trade(parts[0], parts[2], 32);
  trade(parts[1], parts[3], 32);
  trade(parts[0], parts[1], 16);
  trade(parts[2], parts[3], 16);
}

}  // namespace monojit::kernels
