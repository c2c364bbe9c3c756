#pragma once

#include <string_view>
#include <vector>

#include "kernels/common/reference/comparing.h"
#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels::minimax_m3 {

/// Distances of K1's outputs from an order-free reference in double, stage by stage (specification §16.1): the
/// projection from the activations that the device published (up to two tokens: from the specified ones), everything
/// behind it from the QKV values that it left in the scratch, bytes from its own scales, scores from its own index
/// queries and keys.
struct WideCheck {
  reference::BoundTracker h_out;
  reference::BoundTracker x8;
  reference::BoundTracker qkv;
  reference::BoundTracker q_out;
  reference::BoundTracker iq_out;
  reference::BoundTracker k_cache;
  reference::BoundTracker v_cache;
  reference::BoundTracker k_scale;
  reference::BoundTracker v_scale;
  reference::BoundTracker index_cache;
  reference::BoundTracker iscore;
};

/// `before` and `after` have one tensor for every argument.
WideCheck check_wide(const K1Key& key, std::string_view arch, const std::vector<Tensor>& before,
                     const std::vector<Tensor>& after);

}  // namespace monojit::kernels::minimax_m3
