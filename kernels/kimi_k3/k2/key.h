#pragma once

#include <cstdint>
#include <limits>

#include "kernels/common/family.h"
#include "kernels/kimi_k3/model.h"

namespace monojit::kernels::kimi_k3 {

/// Build key of K2, one layer from the attention's output to the MoE's (specification §3.1). The rank is no field: it
/// is an argument.
struct K2Key {
  int tokens = 1;
  int nblocks = 1;
  float eps = 1e-5F;
  float out_eps = 1e-5F;
  float ln_eps = 1e-5F;
  bool reduce = true;
  bool reset = false;
  int fault_rank = -1;
  int fault_epoch = 0;
  int fault_layer = 0;
  int fault_ticks = 0;
  bool timeline = false;

  /// AttnRes sources: the blocks and the prefix.
  constexpr int sources() const { return nblocks + 1; }
};

inline constexpr std::int64_t kMaxFaultNumber = std::numeric_limits<std::int32_t>::max();

inline constexpr KeyField<K2Key> kK2Fields[] = {
    required_integer<&K2Key::tokens>("tokens", "rows of the step (S)", 1, kMaxTokens),
    required_integer<&K2Key::nblocks>("nblocks", "AttnRes blocks before this layer", 1, kMaxBlocks),
    float32<&K2Key::eps>("eps", "added to the mean square of an AttnRes source", 0.0F, 1.0F, 1e-5F),
    float32<&K2Key::out_eps>("out_eps", "added to the mean square of the post-attention norm", 0.0F, 1.0F, 1e-5F),
    float32<&K2Key::ln_eps>("ln_eps", "added to the mean square of the latent norm", 0.0F, 1.0F, 1e-5F),
    integer<&K2Key::reduce>("reduce", "sum the ranks' results here; else FINAL is left to a consumer", 0, 1, 1),
    integer<&K2Key::reset>("reset", "block-write layer: the prefix starts anew with the attention's output", 0, 1, 0),
    integer<&K2Key::fault_rank>("fault_rank", "test hook: this rank stalls in one launch; -1: none does", -1,
                                kRanks - 1, -1),
    integer<&K2Key::fault_epoch>("fault_epoch", "epoch of the launch that stalls", 0, kMaxFaultNumber, 0),
    integer<&K2Key::fault_layer>("fault_layer", "`layer` argument of the launch that stalls", 0, 255, 0),
    integer<&K2Key::fault_ticks>("fault_ticks", "how long it stalls, in ticks of 10 ns", 0, kMaxFaultNumber, 0),
    integer<&K2Key::timeline>("timeline", "write time stamps of the stages", 0, 1, 0),
};

inline K2Key k2_key(const BuildKey& key) { return key.as(kK2Fields); }

extern const Family kK2;

}  // namespace monojit::kernels::kimi_k3
