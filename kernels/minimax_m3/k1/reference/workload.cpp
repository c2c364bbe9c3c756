#include "kernels/minimax_m3/k1/reference/workload.h"

#include "kernels/minimax_m3/k1/reference/check.h"
#include "kernels/minimax_m3/k1/reference/compare.h"
#include "kernels/minimax_m3/k1/reference/generate.h"
#include "kernels/minimax_m3/k1/reference/layer.h"

namespace monojit::kernels::minimax_m3 {
namespace {

class K1Workload final : public Workload {
 public:
  std::vector<Tensor> generate(const BuildKey& key, std::string_view arch, std::uint64_t seed) const override {
    return generate_tensors(k1_key(key), arch, seed);
  }
  void check(const BuildKey& key, std::string_view arch, const std::vector<Tensor>& tensors) const override {
    check_tensors(k1_key(key), arch, tensors);
  }
  std::vector<Comparison> compare(const BuildKey& key, std::string_view arch, const DeviceTraits& traits,
                                  const std::vector<Tensor>& before, const std::vector<Tensor>& after) const override {
    return compare_tensors(k1_key(key), arch, before, after, reference::matrix_model(traits.matrix_model));
  }
  Advance advance(const BuildKey& /*key*/, const std::vector<Tensor>& tensors) const override {
    return next_layer(tensors);
  }
  std::vector<std::pair<std::string, std::int64_t>> place(const BuildKey& /*key*/,
                                                          const std::vector<Tensor>& tensors) const override {
    return layer_place(tensors);
  }
  std::optional<std::int64_t> weight_bytes(const BuildKey& key, const std::vector<Tensor>& tensors) const override {
    return least_weight_bytes(k1_key(key), tensors);
  }
};

}  // namespace

const Workload& k1_workload() {
  static const K1Workload kWorkload;
  return kWorkload;
}

}  // namespace monojit::kernels::minimax_m3
