#pragma once

#include <span>
#include <vector>

#include "kernels/common/reference/gemv.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/experts.h"
#include "kernels/kimi_k3/k2/reference/mail.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "kernels/kimi_k3/k2/roles.h"

namespace monojit::kernels::kimi_k3 {

/// One rank's launch in the phases between which ranks wait for each other. Each phase reads what all ranks pushed in
/// the phases before and pushes its own results to all of them.
class RankRun {
 public:
  RankRun(const K2Key& key, const RankMemory& before, reference::MatrixModel model, GroupResult& results, int rank);

  void output_projection();  ///< -> ar
  void residual();           ///< ar -> prefix, x
  void early_gemvs();        ///< x -> sgu, rlog, lat
  void routing();            ///< rlog -> route
  void shared_expert();      ///< sgu -> h -> shp, final
  void experts();            ///< route, lat -> latr
  void latent_norm();        ///< latr -> ln
  void up();                 ///< ln, shp -> final
  void reduce();             ///< final -> out

  std::span<const Routing> routes() const { return routes_; }

 private:
  using Outputs = std::vector<reference::MfmaColumn>;

  template <class T>
  std::span<const T> of(std::string_view name) const {
    return before_.of<T>(name);
  }
  reference::WeightRows weight(std::string_view name, std::int64_t row, std::int64_t pitch, std::int64_t first) const;
  /// 16 rows from `task` of a weight with K inputs, all of them.
  Outputs gemv(std::string_view name, int task, const GemvShape& shape,
               const reference::BFloat16Activations& rows) const;
  RankResult& result() const { return results_[static_cast<std::size_t>(rank_)]; }
  Mail scratch() const;
  Mail peer(int rank) const;
  /// A pair of 16 outputs' bf16 to all ranks: row group `task` of a row that begins at pair `row`.
  void push_rows(const Region& region, const Outputs& values, int task, std::int64_t row_words) const;
  reference::BFloat16Bits reduced(const Region& region, std::int64_t words, std::size_t token,
                                  std::size_t column) const;

  void router(const reference::BFloat16Activations& x);
  void latent(const reference::BFloat16Activations& x);
  void shared_gate_up(const reference::BFloat16Activations& x);
  void shared_down();
  void publish_pick(int token, int k, const MxRow& row) const;

  const K2Key& key_;
  const RankMemory& before_;
  reference::MatrixModel model_;
  GroupResult& results_;
  int rank_;
  std::int32_t tag_;
  std::size_t half_;
  ScratchLayout layout_;
  PeerLayout peer_layout_;
  std::size_t tokens_;
  std::vector<Routing> routes_;
};

}  // namespace monojit::kernels::kimi_k3
