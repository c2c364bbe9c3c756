#include "kernels/kimi_k3/k2/reference/group.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <string>

#include "kernels/common/health.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/kimi_k3/k2/arguments.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/roles.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr bool kReplicated = true;

bool is_written(std::string_view name) {
  if (name == "peer") return true;
  const auto* const found = std::ranges::find(kK2Arguments, name, &Argument::name);
  return found != std::end(kK2Arguments) && found->written;
}

}  // namespace

std::vector<TensorShape> rank_shapes(const K2Key& key, int bank_rows) {
  const std::int64_t tokens = key.tokens;
  std::vector<TensorShape> shapes = {
      {"core", DType::kBFloat16, {tokens, kCoreWidth}},
      {"w_o", DType::kBFloat16, {kHidden, kCoreWidth}},
      {"prefix", DType::kBFloat16, {tokens, kHidden}, kReplicated},
      {"blocks", DType::kBFloat16, {tokens, bank_rows, kHidden}, kReplicated},
      {"blk_sm", DType::kInt32, {1}, kReplicated},
      {"blk_sr", DType::kInt32, {1}, kReplicated},
      {"ares_nw", DType::kBFloat16, {kHidden}, kReplicated},
      {"ares_qk", DType::kBFloat16, {kHidden}, kReplicated},
      {"in_nw", DType::kBFloat16, {kHidden}, kReplicated},
      {"w_gate", DType::kBFloat16, {kExperts, kHidden}, kReplicated},
      {"bias", DType::kFloat32, {kExperts}, kReplicated},
      {"w_ld", DType::kBFloat16, {kLatent, kHidden}, kReplicated},
      {"w_sgu", DType::kBFloat16, {2 * kSharedIntermediate, kHidden}},
      {"w_sd", DType::kBFloat16, {kHidden, kSharedIntermediate}},
      {"w13", DType::kUint8, {kExperts, 2 * kIntermediate, kLatent / 2}},
      {"w13s", DType::kUint8, {kExperts * 2 * kIntermediate, kLatentBlocks}},
      {"w2", DType::kUint8, {kExperts, kLatent, kIntermediate / 2}},
      {"w2s", DType::kUint8, {kExperts * kLatent, kScaleColumns2}},
      {"ln_w", DType::kBFloat16, {kLatent}, kReplicated},
      {"w_up", DType::kBFloat16, {kRankColumns, kLatent}},
      {"out", DType::kBFloat16, {tokens, kHidden}},
      {"scratch", DType::kUint8, {kScratchBytes}},
      {"rank", DType::kInt32, {1}},
      {"epoch", DType::kInt32, {1}, kReplicated},
      {"layer", DType::kInt32, {1}, kReplicated},
      {"health", DType::kInt32, {kWorkgroups + 1, kHealthRecordWords}},
      {"peer", DType::kUint8, {kPeerBytes}},
  };
  for (TensorShape& shape : shapes) shape.written = is_written(shape.name);
  return shapes;
}

void HostGroup::Free::operator()(std::byte* memory) const { std::free(memory); }

HostGroup::HostGroup(const K2Key& key, int bank_rows) {
  for (RankMemory& rank : memory_) {
    for (const TensorShape& shape : rank_shapes(key, bank_rows)) {
      const std::size_t bytes = reference::element_count(shape.extents) * reference::element_bytes(shape.dtype);
      // calloc, and not a vector: it leaves large pieces untouched.
      owned_.emplace_back(static_cast<std::byte*>(std::calloc(bytes, 1)));
      if (!owned_.back()) throw std::bad_alloc();
      rank.add({std::string(shape.name), shape.dtype, shape.extents, {owned_.back().get(), bytes}});
    }
  }
}

}  // namespace monojit::kernels::kimi_k3
