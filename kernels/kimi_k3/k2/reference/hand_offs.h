#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/common/workload.h"
#include "kernels/kimi_k3/k2/reference/reference.h"

namespace monojit::kernels::kimi_k3 {

/// What launches of one key on the same data leave for others in scratch and in their half of the peer buffers,
/// whatever their epochs: the values are the same, the tags each launch's own. Only what they write is looked at.
class ExpectedHandOffs {
 public:
  /// `result`: of a launch on `before`.
  ExpectedHandOffs(const K2Key& key, const GroupMemory& before, const GroupResult& result);

  /// Where the latest launches left something: a launch of the next epoch takes the scratch, not the half of the peer
  /// buffers.
  enum class Left : std::uint8_t { kPeerHalf, kAll };
  /// A row a region, of all ranks together: words, values and tags, which are to be those of a launch with this epoch
  /// and argument `layer`. `first` is set to the first difference, in words, if there is one and it is empty.
  std::vector<Comparison> compare(const GroupMemory& after, std::int32_t epoch, std::int32_t layer, Left left,
                                  std::string& first) const;

 private:
  using Words = std::vector<std::uint32_t>;
  struct OfRank {
    std::vector<Words> scratch;  ///< one a region
    std::vector<Words> peer;
  };

  K2Key key_;
  std::uint32_t tag_;
  std::vector<OfRank> ranks_;
};

}  // namespace monojit::kernels::kimi_k3
