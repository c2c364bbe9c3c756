#include "kernels/common/bump/reference.h"

#include <cstdint>
#include <limits>

#include "kernels/common/reference/random.h"
#include "kernels/common/reference/tensors.h"

namespace monojit::kernels::bump {

namespace {

constexpr std::uint32_t kLargest = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kOddsOfWrap = 4;  // one seed of four begins at the largest number

class BumpWorkload : public Workload {
 public:
  std::vector<Tensor> generate(const BuildKey& /*key*/, std::string_view /*arch*/, std::uint64_t seed) const override {
    Tensor epoch = reference::make_tensor("epoch", DType::kInt32, {1});
    reference::Random random(seed, 0);
    const bool wraps = random.below(kOddsOfWrap) == 0;
    reference::elements<std::uint32_t>(epoch)[0] =
        wraps ? kLargest : static_cast<std::uint32_t>(random.bits()) & kLargest;
    return {epoch};
  }

  void check(const BuildKey& /*key*/, std::string_view /*arch*/, const std::vector<Tensor>& tensors) const override {
    const Tensor& epoch = reference::named(tensors, "epoch");
    if (epoch.dtype != DType::kInt32 || epoch.shape != std::vector<std::int64_t>{1}) {
      throw UserError("common.bump: tensor 'epoch' must be int32 [1]");
    }
  }

  std::vector<Comparison> compare(const BuildKey& /*key*/, std::string_view /*arch*/, const DeviceTraits& /*traits*/,
                                  const std::vector<Tensor>& before, const std::vector<Tensor>& after) const override {
    const std::uint32_t was = reference::elements<std::uint32_t>(before, "epoch")[0];
    const std::uint32_t expected = was == kLargest ? 0 : was + 1;
    const bool same = reference::elements<std::uint32_t>(after, "epoch")[0] == expected;
    return {{.name = "epoch", .elements = 1, .mismatches = same ? 0U : 1U, .ok = same}};
  }
};

}  // namespace

const Workload& bump_workload() {
  static const BumpWorkload workload;
  return workload;
}

}  // namespace monojit::kernels::bump
