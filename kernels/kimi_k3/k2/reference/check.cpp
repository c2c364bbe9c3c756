#include "kernels/kimi_k3/k2/reference/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/error.h"
#include "kernels/common/rank_reasons.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/reference.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr int kVectorElements = 4;  // of a load from the blocks

class Checker {
 public:
  Checker(const K2Key& key, const GroupMemory& memory) : key_(key), memory_(memory) {}

  std::vector<std::string> run() {
    for (int rank = 0; rank < kRanks; ++rank) shapes(rank);
    if (!reasons_.empty()) return reasons_.texts();  // values only mean something in tensors of the right shape
    for (int rank = 0; rank < kRanks; ++rank) {
      strides(rank);
      launch(rank);
      stale(rank);
    }
    return reasons_.texts();
  }

 private:
  template <class... Values>
  void refuse(int rank, std::string_view tensor, fmt::format_string<Values...> text, Values&&... values) {
    reasons_.add(rank, fmt::format("{} {}", tensor, fmt::format(text, std::forward<Values>(values)...)));
  }

  const RankMemory& at(int rank) const { return memory_[static_cast<std::size_t>(rank)]; }
  std::int32_t scalar(int rank, std::string_view name) const { return at(rank).of<std::int32_t>(name)[0]; }

  void shapes(int rank) {
    for (const TensorShape& shape : rank_shapes(key_)) {
      if (!at(rank).has(shape.name)) {
        refuse(rank, shape.name, "is missing");
        continue;
      }
      const TensorView& view = at(rank).view(shape.name);
      if (view.dtype != shape.dtype) {
        refuse(rank, shape.name, "is {}, must be {}", reference::dtype_name(view.dtype),
               reference::dtype_name(shape.dtype));
      }
      std::vector<std::int64_t> wanted = shape.extents;
      if (shape.name == "blocks" && view.shape.size() == wanted.size())
        wanted[1] = std::max<std::int64_t>(view.shape[1], key_.nblocks);
      if (view.shape != wanted) {
        refuse(rank, shape.name, "has shape {}, must have {}", reference::shape_text(view.shape),
               reference::shape_text(wanted));
      }
    }
  }

  void strides(int rank) {
    const std::int64_t token = scalar(rank, "blk_sm");
    const std::int64_t block = scalar(rank, "blk_sr");
    for (const auto& [name, stride] : {std::pair("blk_sm", token), std::pair("blk_sr", block)}) {
      if (stride < 0 || stride % kVectorElements != 0) {
        refuse(rank, name, "is {}, must be a multiple of {} and not negative", stride, kVectorElements);
      }
    }
    const std::int64_t end = (key_.tokens - 1) * token + (key_.nblocks - 1) * block + kHidden;
    const auto have = static_cast<std::int64_t>(at(rank).of<std::uint16_t>("blocks").size());
    if (end > have) refuse(rank, "blocks", "has {} elements, but the strides reach {}", have, end);
  }

  void launch(int rank) {
    if (scalar(rank, "rank") != rank) refuse(rank, "rank", "is {}", scalar(rank, "rank"));
    for (const std::string_view name : {"epoch", "layer"}) {
      if (scalar(rank, name) != scalar(0, name)) {
        refuse(rank, name, "is {}, but {} on rank 0: the ranks would wait for each other in vain", scalar(rank, name),
               scalar(0, name));
      }
    }
    const std::int32_t layer = scalar(rank, "layer");
    if (layer < back_slot(kFirstLayer) || layer > back_slot(kLastLayer)) {
      refuse(rank, "layer", "is {}, must be in {}..{}", layer, back_slot(kFirstLayer), back_slot(kLastLayer));
    }
  }

  /// A pair that carries the launch's tag already would be taken for its result.
  void stale(int rank) {
    const auto tag = static_cast<std::uint32_t>(tag_of(at(rank)));
    for (const auto& [name, first, bytes] :
         {std::tuple("scratch", std::size_t{0}, scratch_layout(key_.tokens, key_.nblocks).ln.offset),
          std::tuple("peer", half_offset(at(rank)), peer_layout(key_.tokens).bytes())}) {
      const auto words = at(rank).of<std::uint32_t>(name).subspan(first / 4, static_cast<std::size_t>(bytes) / 4);
      std::size_t live = 0;
      for (std::size_t i = 1; i < words.size(); i += 2) live += words[i] == tag ? 1 : 0;
      if (live > 0) refuse(rank, name, "has {} pairs that carry the launch's tag {} already", live, tag);
    }
  }

  const K2Key& key_;
  const GroupMemory& memory_;
  RankReasons reasons_;
};

}  // namespace

void check_group(const K2Key& key, const GroupMemory& memory) {
  const std::vector<std::string> reasons = Checker(key, memory).run();
  if (!reasons.empty()) throw UserError(fmt::format("kimi_k3.k2: {}", fmt::join(reasons, "; ")));
}

}  // namespace monojit::kernels::kimi_k3
