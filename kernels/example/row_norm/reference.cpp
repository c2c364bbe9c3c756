#include "kernels/example/row_norm/reference.h"

#include <array>
#include <cmath>
#include <span>
#include <string>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/comparing.h"
#include "kernels/common/reference/float32.h"
#include "kernels/common/reference/random.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/example/row_norm/key.h"

namespace monojit::kernels::example {

namespace {

using reference::bf16_value;
using Bits = reference::BFloat16Bits;

// Before the rounding to bf16: a lane adds at most 256 squares in f32 and the root halves that sum's error, 2^-17; one
// ulp of the root and three more roundings stay below as much again.
constexpr double kRelativeSlack = 0x1p-16;

float wave_sum(std::array<float, kRowNormLanes> lanes) {
  for (int distance = kRowNormLanes / 2; distance >= 1; distance /= 2) {
    const auto before = lanes;
    for (int lane = 0; lane < kRowNormLanes; ++lane) lanes[lane] = before[lane] + before[lane ^ distance];
  }
  return lanes[0];
}

float reciprocal_rms(std::span<const Bits> row, float eps) {
  std::array<float, kRowNormLanes> squares{};
  for (std::size_t i = 0; i < row.size(); ++i) {
    float& lane = squares[i / kRowNormLaneElements % kRowNormLanes];
    lane = std::fma(bf16_value(row[i]), bf16_value(row[i]), lane);
  }
  return reference::rsq(wave_sum(squares) / static_cast<float>(row.size()) + eps);
}

double wide_reciprocal_rms(std::span<const Bits> row, float eps) {
  double sum = 0;
  for (const Bits x : row) sum += double{bf16_value(x)} * bf16_value(x);
  return 1 / std::sqrt(sum / static_cast<double>(row.size()) + eps);
}

class RowNormWorkload : public Workload {
 public:
  std::vector<Tensor> generate(const BuildKey& build_key, std::string_view /*arch*/,
                               std::uint64_t seed) const override {
    std::vector<Tensor> tensors = empty(build_key);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      reference::Random random(seed, i);
      for (Bits& x : reference::elements<Bits>(tensors[i])) x = reference::bf16_bits(random.gaussian());
    }
    return tensors;
  }

  void check(const BuildKey& key, std::string_view /*arch*/, const std::vector<Tensor>& tensors) const override {
    for (const Tensor& expected : empty(key)) {
      const Tensor& given = reference::named(tensors, expected.name);
      if (given.dtype != expected.dtype || given.shape != expected.shape) {
        throw UserError("example.row_norm: tensor '" + expected.name + "' must be " +
                        std::string(reference::dtype_name(expected.dtype)) + " " +
                        reference::shape_text(expected.shape));
      }
    }
  }

  std::vector<Comparison> compare(const BuildKey& build_key, std::string_view /*arch*/, const DeviceTraits& /*traits*/,
                                  const std::vector<Tensor>& before, const std::vector<Tensor>& after) const override {
    const RowNormKey key = row_norm_key(build_key);
    const auto hidden = static_cast<std::size_t>(key.hidden);
    const auto g = reference::elements<Bits>(before, "g");
    Tensor expected = reference::named(before, "y");
    reference::BoundTracker tracker;
    for (std::size_t row = 0; row < static_cast<std::size_t>(key.rows); ++row) {
      const auto x = reference::elements<Bits>(before, "x").subspan(row * hidden, hidden);
      const auto actual = reference::elements<Bits>(after, "y").subspan(row * hidden, hidden);
      const auto y = reference::elements<Bits>(expected).subspan(row * hidden, hidden);
      const float rstd = reciprocal_rms(x, key.eps);
      const double wide_rstd = wide_reciprocal_rms(x, key.eps);
      for (std::size_t i = 0; i < hidden; ++i) {
        y[i] = reference::bf16_bits((bf16_value(x[i]) * rstd) * bf16_value(g[i]));
        const double wide = bf16_value(x[i]) * wide_rstd * bf16_value(g[i]);
        tracker.add_rounded(bf16_value(actual[i]), wide, kRelativeSlack * std::abs(wide), reference::round_bf16);
      }
    }
    const Tensor& y = reference::named(after, "y");
    const std::size_t wrong = reference::mismatches(expected, y, reference::Fp8Format::kOcp);
    return {{.name = "y",
             .elements = y.bytes.size() / sizeof(Bits),
             .mismatches = wrong,
             .max_error = tracker.error(),
             .bound = tracker.bound(),
             .ok = wrong == 0 && tracker.within()}};
  }

 private:
  static std::vector<Tensor> empty(const BuildKey& build_key) {
    const RowNormKey key = row_norm_key(build_key);
    return {reference::make_tensor("x", DType::kBFloat16, {key.rows, key.hidden}),
            reference::make_tensor("g", DType::kBFloat16, {key.hidden}),
            reference::make_tensor("y", DType::kBFloat16, {key.rows, key.hidden})};
  }
};

}  // namespace

const Workload& row_norm_workload() {
  static const RowNormWorkload workload;
  return workload;
}

}  // namespace monojit::kernels::example
