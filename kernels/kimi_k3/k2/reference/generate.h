#pragma once

#include <cstdint>
#include <span>

#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/reference/group.h"

namespace monojit::kernels::kimi_k3 {

enum class ExpertFill : std::uint8_t {
  kAll,     ///< every expert of every rank: 16 GB
  kPicked,  ///< those that the tokens pick; the others keep what they have
};

/// Fills all tensors of all ranks (specification §16.3): replicated ones alike, weights of each rank its own. Outputs,
/// scratch and peer buffers get random words whose tags are never live, unused blocks NaNs; health words and the head
/// of the peer buffers are zero. Every tensor, and every expert of one, has a stream of its own: the same bytes
/// whatever else is filled.
void generate_group(const K2Key& key, std::uint64_t seed, const GroupMemory& memory, ExpertFill fill);

/// The same for one tensor of one rank, an expert's weights excepted.
void generate_tensor(const K2Key& key, std::uint64_t seed, int rank, const TensorView& tensor);

/// The weights and scales of these experts on one rank, in those of their four tensors that `memory` has.
void generate_experts(std::uint64_t seed, int rank, const RankMemory& memory, std::span<const int> experts);

}  // namespace monojit::kernels::kimi_k3
