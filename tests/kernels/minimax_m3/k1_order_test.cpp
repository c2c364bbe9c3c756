#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "kernels/minimax_m3/k1/reference/norm.h"
#include "kernels/minimax_m3/k1/reference/projection.h"

// Data that tell orders of summation apart. An order other than the specified one is made by moving inputs: the same
// products reach the matrix core at other times.
namespace monojit::kernels::minimax_m3 {
namespace {

using reference::elements;
using reference::MatrixModel;

constexpr std::uint64_t kSeed = 21;
constexpr double kExchangeShare = 0.1;
constexpr double kReversalShare = 0.5;

class OrderSensitive {
 public:
  OrderSensitive() {
    case_.make_order_sensitive(kSeed);
    const auto bf16 = [&](const char* name) { return elements<reference::BFloat16Bits>(case_.tensors, name); };
    row_ = normalise_row(bf16("ar"), bf16("res"), bf16("g_in"), case_.key.eps, chip_rules("gfx950")).quantised;
  }

  /// Share of the projection's values that change when input k stands where source(k) stood.
  double changed(MatrixModel model, const std::function<int(int)>& source) const {
    const std::vector<float> right = run(model, [](int k) { return k; });
    const std::vector<float> other = run(model, source);
    std::size_t differing = 0;
    for (std::size_t i = 0; i < right.size(); ++i) differing += right[i] != other[i];
    return static_cast<double>(differing) / static_cast<double>(right.size());
  }

 private:
  static constexpr int kTestRows = 512;  // enough for shares

  std::vector<float> run(MatrixModel model, const std::function<int(int)>& source) const {
    const auto weight = elements<std::uint8_t>(case_.tensors, "w_qkv");
    std::vector<std::uint8_t> moved(std::size_t{kTestRows} * kHidden);
    QuantisedRow row = row_;
    for (int k = 0; k < kHidden; ++k) {
      const int from = source(k);
      row.bytes[k] = row_.bytes[from];
      for (int n = 0; n < kTestRows; ++n) moved[weight_byte(n, k)] = weight[weight_byte(n, from)];
    }
    return project(moved, elements<float>(case_.tensors, "s_qkv").first(kTestRows), std::span(&row, 1),
                   reference::Fp8Format::kOcp, model);
  }

  K1Case case_;
  QuantisedRow row_;
};

/// k with its parts `first` and `second` of `size` inputs exchanged.
int exchanged(int k, int size, int first, int second) {
  if (k / size == first) return k + (second - first) * size;
  if (k / size == second) return k - (second - first) * size;
  return k;
}

constexpr int kWaveInputs = kHidden / kWaves;

TEST_CASE("order-sensitive activations are all of the largest code, with the opposite sign in every second token") {
  for (const char* arch : {"gfx950", "gfx942"}) {
    K1Case a_case({.tokens = 2}, arch);
    a_case.make_order_sensitive(kSeed);
    CHECK_NOTHROW(a_case.check());
    const auto res = elements<reference::BFloat16Bits>(a_case.tensors, "res");
    CHECK(res[5] == (res[kHidden + 5] ^ 0x8000));
    const auto bf16 = [&](const char* name) { return elements<reference::BFloat16Bits>(a_case.tensors, name); };
    const auto row = normalise_row(bf16("ar"), res, bf16("g_in"), a_case.key.eps, chip_rules(arch)).quantised;
    CHECK(std::ranges::all_of(row.bytes, [](std::uint8_t byte) { return (byte & 0x7F) == 0x7E; }));
  }
}

TEST_CASE("order-sensitive rows notice exchanged waves, but for the first two, which commute") {
  const OrderSensitive data;
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
    CHECK(data.changed(model, [](int k) { return exchanged(k, kWaveInputs, 2, 5); }) >= kExchangeShare);
    CHECK(data.changed(model, [](int k) { return exchanged(k, kWaveInputs, 0, 7); }) >= kExchangeShare);
    CHECK(data.changed(model, [](int k) { return exchanged(k, kWaveInputs, 0, 1); }) == 0);
  }
}

TEST_CASE("order-sensitive rows notice exchanged chunks and halves") {
  const OrderSensitive data;
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
    CHECK(data.changed(model, [](int k) { return k < kWaveInputs ? exchanged(k, kChunk, 1, 9) : k; }) >=
          kExchangeShare);
    CHECK(data.changed(model, [](int k) { return k ^ 8; }) >= kExchangeShare);  // every chunk's halves
    CHECK(data.changed(model, [](int k) { return k / kWaveInputs == 3 ? k ^ 8 : k; }) >= kExchangeShare);
  }
}

TEST_CASE("a full reversal changes most order-sensitive values") {
  const OrderSensitive data;
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact}) {
    CHECK(data.changed(model, [](int k) { return kHidden - 1 - k; }) >= kReversalShare);
  }
}

TEST_CASE("order-sensitive rows tell the matrix models apart") {
  K1Case a_case;
  a_case.make_order_sensitive(kSeed);
  const std::vector<Tensor> cdna3 = a_case.expected(MatrixModel::kCdna3);
  const std::vector<Tensor> exact = a_case.expected(MatrixModel::kExact);
  int differing = 0;
  for (int row = 0; row < projection_rows(1); ++row) differing += qkv_value(cdna3, 0, row) != qkv_value(exact, 0, row);
  CHECK(differing > projection_rows(1) / 10);
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
