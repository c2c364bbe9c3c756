#include "tests/kernels/device/k1_launch.h"

#include <bit>

#include <fmt/format.h>

namespace monojit::tests {

using kernels::minimax_m3::K1Case;
using kernels::minimax_m3::K1Key;

kernels::BuildKey build_key(const K1Key& key) {
  return kernels::BuildKey::from_values(kernels::minimax_m3::kK1,
                                        {{"tokens", key.tokens},
                                         {"index_heads", key.index_heads},
                                         {"index_own", key.index_own},
                                         {"init_blocks", key.init_blocks},
                                         {"local_blocks", key.local_blocks},
                                         {"page_stride", key.page_stride},
                                         {"kv_scale", static_cast<std::int64_t>(key.kv_scale)},
                                         {"eps", std::bit_cast<std::uint32_t>(key.eps)},
                                         {"sm_scale", std::bit_cast<std::uint32_t>(key.sm_scale)},
                                         {"signal", key.signal},
                                         {"saturate", key.saturate},
                                         {"page_base64", key.page_base64},
                                         {"weight_nt", key.weight_nt},
                                         {"timeline", key.timeline},
                                         {"scorer", key.scorer},
                                         {"flag_drain", key.flag_drain},
                                         {"bounded", key.bounded}});
}

K1Case device_case(const K1Key& key, std::uint64_t seed) { return K1Case(key, device().arch(), seed); }

std::vector<kernels::Tensor> launched(const K1Case& a_case) { return launched(build_key(a_case.key), a_case.tensors); }

std::string disagreement(const K1Case& a_case, const std::vector<kernels::Tensor>& after) {
  std::string text;
  for (const kernels::Comparison& output :
       a_case.compare(after, kernels::reference::matrix_model(device_traits().matrix_model))) {
    if (output.ok) continue;
    text += fmt::format("{}: {} of {} mismatches, error {} of {}; ", output.name, output.mismatches, output.elements,
                        output.max_error, output.bound);
  }
  return text;
}

bool same(const std::vector<kernels::Tensor>& a, const std::vector<kernels::Tensor>& b, std::string_view name) {
  return kernels::reference::named(a, name).bytes == kernels::reference::named(b, name).bytes;
}

}  // namespace monojit::tests
