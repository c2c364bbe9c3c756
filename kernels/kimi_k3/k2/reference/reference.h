#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/matrix_core.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/reference/group.h"
#include "kernels/kimi_k3/k2/reference/route.h"

namespace monojit::kernels::kimi_k3 {

/// What one rank's launch leaves behind: every tensor that it writes, whole. Bytes that it does not write are those of
/// before. Health words and alarm flags stay as they are.
struct RankResult {
  std::vector<reference::BFloat16Bits> prefix;  ///< [S][7168]
  std::vector<reference::BFloat16Bits> out;     ///< [S][7168]
  std::vector<std::byte> scratch;
  std::vector<std::byte> peer;  ///< the whole buffer, head and both halves
};
using GroupResult = std::array<RankResult, kRanks>;

/// The layer on all eight ranks, bit for bit: specification §8 in its order of sums and roundings, with the matrix core
/// as `model` has it. Reads the tensors as they are before the launch, weights in place. Faults are not modelled: they
/// change no bit.
GroupResult run_group(const K2Key& key, const GroupMemory& before,
                      reference::MatrixModel model = reference::MatrixModel::kCdna3);

/// What the stages up to the routing leave, which read no experts' weights.
struct RoutedGroup {
  std::vector<Routing> routes;                                      ///< the experts of every token
  std::array<std::vector<reference::BFloat16Bits>, kRanks> prefix;  ///< as run_group() leaves it
};
RoutedGroup run_to_routing(const K2Key& key, const GroupMemory& before,
                           reference::MatrixModel model = reference::MatrixModel::kCdna3);

/// The experts of every token: which experts' weights a launch reads.
std::vector<Routing> routes(const K2Key& key, const GroupMemory& before,
                            reference::MatrixModel model = reference::MatrixModel::kCdna3);

/// The tag that marks the launch's pairs, from the tensors `epoch` and `layer`.
std::int32_t tag_of(const RankMemory& rank);
/// Where the half of the peer buffer that the launch uses begins.
std::size_t half_offset(const RankMemory& rank);

}  // namespace monojit::kernels::kimi_k3
