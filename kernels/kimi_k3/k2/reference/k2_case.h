#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/matrix_core.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/addresses.h"
#include "kernels/kimi_k3/k2/reference/group.h"
#include "kernels/kimi_k3/k2/reference/mail.h"
#include "kernels/kimi_k3/k2/reference/reference.h"

namespace monojit::kernels::kimi_k3 {

/// One launch of the group for a directed test. All tensors begin as zeros, but for the norm weights, which are 1, and
/// what tells the ranks and the launch; the test sets what it is about. generated() begins with data for a seed.
///
///   K2Case a_case({.tokens = 1, .nblocks = 1});
///   a_case.set(0, "core", 3, 1.5F);
///   const GroupResult after = a_case.run();
struct K2Case {
  explicit K2Case(const K2Key& case_key);
  static K2Case generated(const K2Key& case_key, std::uint64_t seed);

  K2Key key;
  HostGroup group;

  const RankMemory& rank(int number) const { return group.memory()[static_cast<std::size_t>(number)]; }

  /// An element of a bf16 or f32 tensor, on one rank or on all of them.
  void set(int rank_number, std::string_view name, std::int64_t index, float value);
  void set_all(std::string_view name, std::int64_t index, float value);
  /// All elements, on all ranks.
  void fill(std::string_view name, float value);
  void set_launch(std::int32_t epoch, std::int32_t layer);

  /// An FP4 code and its scale's in w13 or w2 (`matrix` says which) of an expert, on one rank.
  void set_expert(int rank_number, const ExpertMatrix& matrix, int expert, int row, int column, unsigned code,
                  unsigned scale_code);

  GroupResult run(reference::MatrixModel model = reference::MatrixModel::kCdna3) const {
    return run_group(key, group.memory(), model);
  }
  /// What a rank left in its scratch or in the half of its peer buffer; only to be read.
  Mail scratch_of(const GroupResult& result, int rank_number) const;
  Mail peer_of(const GroupResult& result, int rank_number) const;
  ScratchLayout scratch_regions() const { return scratch_layout(key.tokens, key.nblocks); }
  PeerLayout peer_regions() const { return peer_layout(key.tokens); }
};

}  // namespace monojit::kernels::kimi_k3
