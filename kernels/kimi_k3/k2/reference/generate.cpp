#include "kernels/kimi_k3/k2/reference/generate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/random.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/addresses.h"
#include "kernels/kimi_k3/k2/reference/reference.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::BFloat16Bits;
using reference::Random;

constexpr std::uint64_t kMaxEpoch = 1000;
constexpr std::size_t kDraws = 4096;  // of a distribution: large tensors take from them at random
constexpr unsigned kFirstScaleCode = 118;
constexpr unsigned kScaleCodes = 5;
constexpr std::uint32_t kNeverATag = 0x80000000U;  // tags are positive

/// How a bf16 tensor is distributed.
struct Distribution {
  std::string_view name;
  float mean = 0;
  float deviation = 1;
};
constexpr Distribution kDistributions[] = {
    {"core", 0, 1},        {"w_o", 0, 0.02F},  {"prefix", 0, 2},     {"blocks", 0, 2},   {"ares_nw", 1, 0.1F},
    {"ares_qk", 0, 0.05F}, {"in_nw", 1, 0.1F}, {"w_gate", 0, 0.02F}, {"w_ld", 0, 0.02F}, {"w_sgu", 0, 0.02F},
    {"w_sd", 0, 0.03F},    {"ln_w", 1, 0.1F},  {"w_up", 0, 0.02F},
};
constexpr float kBiasDeviation = 0.02F;

constexpr std::string_view kExpertTensors[] = {"w13", "w13s", "w2", "w2s"};

bool is_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_replicated(std::string_view name) {
  static const std::vector<TensorShape> kShapes = rank_shapes(K2Key{});
  const auto found = std::ranges::find(kShapes, name, &TensorShape::name);
  return found != kShapes.end() && found->replicated;
}

/// A stream of the seed for a tensor of a rank: replicated tensors have the same on all.
Random random_of(std::uint64_t seed, int rank, std::string_view name, int expert = 0) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char letter : name) hash = (hash ^ static_cast<std::uint8_t>(letter)) * 0x100000001B3U;
  hash += static_cast<std::uint64_t>(expert) << 8;
  return {seed, hash ^ static_cast<std::uint64_t>(is_replicated(name) ? kRanks : rank)};
}

template <class T>
std::span<T> elements(const TensorView& tensor) {
  return {reinterpret_cast<T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

void fill_bf16(Random random, const Distribution& distribution, std::span<BFloat16Bits> values) {
  std::array<BFloat16Bits, kDraws> draws{};
  for (BFloat16Bits& draw : draws) draw = bf16_bits(distribution.mean + random.gaussian() * distribution.deviation);
  for (std::size_t i = 0; i < values.size(); i += 4) {
    const std::uint64_t word = random.bits();
    const std::size_t count = std::min<std::size_t>(4, values.size() - i);
    for (std::size_t part = 0; part < count; ++part) values[i + part] = draws[(word >> (16 * part)) % kDraws];
  }
}

void fill_scales(Random random, std::span<std::uint8_t> codes) {
  for (std::size_t i = 0; i < codes.size(); i += 8) {
    const std::uint64_t word = random.bits();
    const std::size_t count = std::min<std::size_t>(8, codes.size() - i);
    for (std::size_t part = 0; part < count; ++part) {
      const auto byte = static_cast<unsigned>(word >> (8 * part)) & 0xFFU;
      codes[i + part] = static_cast<std::uint8_t>(kFirstScaleCode + (byte * kScaleCodes >> 8));
    }
  }
}

/// Words none of which can be a live tag, whatever holds them.
void fill_stale(Random random, std::span<std::uint32_t> words) {
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.bits()) | kNeverATag;
}

/// Blocks that the key does not use are NaNs: nobody may read them.
void poison_unused_blocks(const K2Key& key, const TensorView& blocks) {
  constexpr BFloat16Bits kNan = 0x7FC0;
  const auto values = elements<BFloat16Bits>(blocks);
  const auto bank = static_cast<std::size_t>(blocks.shape[1]) * kHidden;
  const std::size_t used = static_cast<std::size_t>(key.nblocks) * kHidden;
  for (std::size_t first = 0; first < values.size(); first += bank)
    std::ranges::fill(values.subspan(first + used, bank - used), kNan);
}

std::int32_t scalar(Random random, int rank, std::string_view name) {
  if (name == "blk_sm") return kMaxBlocks * kHidden;
  if (name == "blk_sr") return kHidden;
  if (name == "rank") return rank;
  if (name == "epoch") return static_cast<std::int32_t>(random.below(kMaxEpoch));
  return back_slot(kFirstLayer + static_cast<int>(random.below(kLastLayer)));
}

}  // namespace

void generate_tensor(const K2Key& key, std::uint64_t seed, int rank, const TensorView& tensor) {
  const std::string_view name = tensor.name;
  const Random random = random_of(seed, rank, name);
  const auto* const distribution = std::ranges::find(kDistributions, name, &Distribution::name);
  if (distribution != std::end(kDistributions)) {
    fill_bf16(random, *distribution, elements<BFloat16Bits>(tensor));
    if (name == "blocks") poison_unused_blocks(key, tensor);
  } else if (name == "bias") {
    Random source = random;
    for (float& value : elements<float>(tensor)) value = source.gaussian() * kBiasDeviation;
  } else if (name == "health") {
    std::ranges::fill(tensor.bytes, std::byte{0});
  } else if (name == "out" || name == "scratch" || name == "peer") {
    fill_stale(random, elements<std::uint32_t>(tensor));
    if (name == "peer") std::ranges::fill(tensor.bytes.first(kPeerHead), std::byte{0});
  } else if (!is_of(kExpertTensors, name)) {
    elements<std::int32_t>(tensor)[0] = scalar(random, rank, name);
  }
}

void generate_experts(std::uint64_t seed, int rank, const RankMemory& memory, std::span<const int> experts) {
  for (const int expert : experts) {
    for (const std::string_view name : kExpertTensors) {
      if (!memory.has(name)) continue;
      const TensorView& tensor = memory.view(name);
      const std::size_t share = tensor.bytes.size() / kExperts;
      const auto bytes = tensor.bytes.subspan(static_cast<std::size_t>(expert) * share, share);
      Random random = random_of(seed, rank, name, expert);
      if (name.ends_with('s')) {
        fill_scales(random, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
      } else {
        random.fill(bytes);
      }
    }
  }
}

void generate_group(const K2Key& key, std::uint64_t seed, const GroupMemory& memory, ExpertFill fill) {
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankMemory& tensors = memory[static_cast<std::size_t>(rank)];
    for (const TensorView& tensor : tensors.views()) generate_tensor(key, seed, rank, tensor);
    const auto bank = static_cast<std::int32_t>(tensors.view("blocks").shape[1]);
    tensors.of<std::int32_t>("blk_sm")[0] = bank * kHidden;
  }
  std::vector<int> experts(kExperts);
  std::iota(experts.begin(), experts.end(), 0);
  if (fill == ExpertFill::kPicked) {
    const std::vector<Routing> tokens = routes(key, memory);
    experts = expert_union(tokens);
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    generate_experts(seed, rank, memory[static_cast<std::size_t>(rank)], experts);
  }
}

}  // namespace monojit::kernels::kimi_k3
