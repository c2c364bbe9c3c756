#pragma once

#include <cstdint>

/// Facts of Kimi-K3 with tensor parallelism 8 that all of its kernels share (specification of K2, §1, §5.1).
namespace monojit::kernels::kimi_k3 {

inline constexpr int kRanks = 8;
inline constexpr int kMaxTokens = 8;
inline constexpr int kMaxBlocks = 8;     ///< AttnRes blocks of the whole model
inline constexpr int kBlockLayers = 12;  ///< layers that share one block
inline constexpr int kFirstLayer = 1;    ///< layer 0 has a dense MLP
inline constexpr int kLastLayer = 92;

inline constexpr int kHidden = 7168;
inline constexpr int kCoreWidth = 1536;  ///< attention output of a rank: 12 heads of 128
inline constexpr int kLatent = 3584;
inline constexpr int kExperts = 896;
inline constexpr int kTopExperts = 16;
inline constexpr int kIntermediate = 384;        ///< of a routed expert, this rank's share
inline constexpr int kSharedIntermediate = 768;  ///< of the shared expert, this rank's share

inline constexpr int kRankExperts = kExperts / kRanks;      ///< router rows of a rank
inline constexpr int kRankLatent = kLatent / kRanks;        ///< latent columns of a rank
inline constexpr int kRankColumns = kHidden / kRanks;       ///< up-projection columns of a rank
inline constexpr int kMaxUnion = kMaxTokens * kTopExperts;  ///< distinct experts of a step

/// MX formats: one E8M0 scale for 32 FP4 values along K.
inline constexpr int kMxBlock = 32;
inline constexpr int kLatentBlocks = kLatent / kMxBlock;              // 112
inline constexpr int kIntermediateBlocks = kIntermediate / kMxBlock;  // 12
inline constexpr int kScaleColumns2 = 16;                             ///< row of w2's scales: 12 and 4 undefined ones
inline constexpr int kFp4WordValues = 8;

/// Scratch that all kernels of the model share: as large as the largest needs (the front half's at 8 rows, 8 blocks).
inline constexpr std::int64_t kScratchBytes = 789056;

/// Blocks before layer `layer`'s MoE, and whether the layer opens a new one.
constexpr int blocks_of_layer(int layer) {
  return (layer + kBlockLayers - 1) / kBlockLayers + (layer % kBlockLayers == 0 ? 1 : 0);
}
constexpr bool resets_prefix(int layer) { return layer % kBlockLayers == 0; }

/// The tag of a launch's pairs, new in every launch of 2^22 steps; never 0. `slot` tells the launches of a step apart.
constexpr std::int32_t launch_tag(std::int32_t epoch, std::int32_t slot) { return (epoch & 0x3FFFFF) * 256 + slot + 1; }
inline constexpr int kTagBits = 30;
/// The slot that launch_tag() put into a tag.
constexpr std::int32_t slot_of_tag(std::uint32_t tag) { return static_cast<std::int32_t>((tag - 1) & 0xFF); }
/// Which half of the peer buffer a step uses.
constexpr int epoch_parity(std::int32_t epoch) { return epoch & 1; }

/// Argument `layer` of the back half of a layer; the front half's is the layer's number.
constexpr std::int32_t back_slot(int layer) { return 128 + layer; }

}  // namespace monojit::kernels::kimi_k3
