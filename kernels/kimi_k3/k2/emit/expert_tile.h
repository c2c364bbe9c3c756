#pragma once

#include <array>

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

// FP4 weights of experts (specification §2.2, §2.3). A tile is 16 rows by 128 columns in 1 KiB: lane 16 kb + l16 has
// row l16, columns 32 kb .. + 31. Its scales: a dword a lane holds those of two row groups and two steps, of the same
// row and block kb: byte 2 (step mod 2) + row group mod 2.

inline constexpr int kTileBytes = 1024;

/// One row group of an expert, `kSteps` consecutive steps from an even one on.
template <int kSteps>
struct ExpertTiles {
  std::array<Var<Vec<Int32, 4>>, kSteps> words;
  std::array<Var<Int32>, (kSteps + 1) / 2> scales;  // of steps 2 i and 2 i + 1, row group even: bytes 0 and 2
};

/// The weights and scales of one of the experts' matrices, of all experts.
struct ExpertMatrix {
  BufferResource tiles, scales;
};

/// The expert of a slot, or behind the last one a number whose weights would lie behind all others: loads of them give
/// zeros and cost no memory.
inline Uniform<Int32> expert_of(const Context& k, const Uniform<Int32>& slot, const Uniform<Int32>& slots) {
  const int last = k.tokens() * kTopExperts - 1;
  return select(slot < slots, uniform(load(k.lds.expert + min(slot, last))), Uniform<Int32>(kExperts));
}

/// Puts the loads in flight. `tile`: byte of the first tile; `scale`: byte of the first scales. They go through the
/// lanes' offsets, as LLVM keeps what was in LDS in a vector register and would loop over a scalar offset.
template <int kSteps>
void fetch_tiles(ExpertTiles<kSteps>& tiles, const ExpertMatrix& matrix, const Uniform<Int32>& tile,
                 const Uniform<Int32>& scale) {
  const Int32 words = lane_id() * 16 + tile;
  const Int32 codes = lane_id() * 4 + scale;
  for (int step = 0; step < kSteps; ++step) {
    tiles.words[static_cast<std::size_t>(step)] =
        load<Vec<Int32, 4>>(matrix.tiles, words, {.offset = step * kTileBytes, .policy = CachePolicy::kNonTemporal});
  }
  for (int pair = 0; pair < (kSteps + 1) / 2; ++pair) {
    tiles.scales[static_cast<std::size_t>(pair)] = load<Int32>(matrix.scales, codes, {.offset = pair * kWaveLanes * 4});
  }
}

/// sum + the tile of `step` times activations, with their scales in byte 0. `odd_group`: 8 for the odd one of two row
/// groups, else 0.
template <int kSteps>
Vec<Float32, 4> multiply_tile(const ExpertTiles<kSteps>& tiles, int step, const Uniform<Int32>& odd_group,
                              const Vec<Int32, 4>& activations, const Int32& code, const Vec<Float32, 4>& sum) {
  constexpr auto kFp4 = MxFormat::kFp4;
  const Vec<Int32, 4> words = tiles.words[static_cast<std::size_t>(step)];
  const Int32 scales = shr_logical(tiles.scales[static_cast<std::size_t>(step / 2)].value(), Int32(odd_group));
  if (step % 2 == 0) {
    return mfma_scale_f32_16x16x128<kFp4, kFp4>(words, activations, sum, MxScale<0>{scales}, MxScale<0>{code});
  }
  return mfma_scale_f32_16x16x128<kFp4, kFp4>(words, activations, sum, MxScale<2>{scales}, MxScale<0>{code});
}

}  // namespace monojit::kernels::kimi_k3
