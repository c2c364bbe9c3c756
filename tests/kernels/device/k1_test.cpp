#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/kernels/device/k1_launch.h"

// K1's code object against the references, at model size (specification §16.2; numbers are its cases).
namespace {

using namespace monojit;
using kernels::minimax_m3::K1Case;
using kernels::minimax_m3::K1Key;
using kernels::minimax_m3::KvScale;
using tests::device_case;
using tests::disagreement;
using tests::launched;

constexpr float kLargestBFloat16 = 0x1.FEp127F;
constexpr float kDenormal = 0x1p-130F;

}  // namespace

TEST_CASE("1, 13: Given any strides, scales and seeds, when K1 ran, then every output agrees", "[k1][model]") {
  const int tokens = GENERATE(1, 2);
  const int page_stride = GENERATE(8, 16);
  const KvScale kv_scale = GENERATE(KvScale::kPerToken, KvScale::kStaticOne, KvScale::kScalarRead);
  for (const std::uint64_t seed : {1, 2}) {
    const K1Case a_case = device_case({.tokens = tokens, .page_stride = page_stride, .kv_scale = kv_scale}, seed);
    INFO("tokens " << tokens << " stride " << page_stride << " seed " << seed);
    CHECK(disagreement(a_case, launched(a_case)) == "");
  }
}

TEST_CASE("3: Given rows whose sums cancel, when K1 ran, then its order of summation is the specified one",
          "[k1][model]") {
  K1Case a_case = device_case({.tokens = 2});
  a_case.make_order_sensitive(1);
  CHECK(disagreement(a_case, launched(a_case)) == "");
}

TEST_CASE("4: Given zero rows and gammas of -1, when K1 ran, then the scale is 1 and outputs agree", "[k1]") {
  K1Case zero = device_case({.tokens = 2});
  zero.fill("ar", 0);
  zero.fill("res", 0);
  CHECK(disagreement(zero, launched(zero)) == "");

  K1Case no_weight = device_case({.tokens = 1});
  no_weight.fill("g_in", -1);
  CHECK(disagreement(no_weight, launched(no_weight)) == "");

  K1Case single = device_case({.tokens = 1});
  single.clear_row(0);
  single.set("res", 767, 3);
  CHECK(disagreement(single, launched(single)) == "");
}

TEST_CASE("5: Given the largest and the smallest inputs, when K1 ran, then outputs agree", "[k1]") {
  K1Case large = device_case({.tokens = 1});
  large.set("ar", 5, kLargestBFloat16);
  large.set("res", 5, kLargestBFloat16);
  CHECK(disagreement(large, launched(large)) == "");

  K1Case small = device_case({.tokens = 1});
  small.fill("ar", kDenormal);
  small.fill("res", -2 * kDenormal);
  small.fill("g_in", -0.99609375F);
  CHECK(disagreement(small, launched(small)) == "");
}

TEST_CASE("6: Given NaN or infinity in one row, when K1 ran, then outputs agree and the other row is untouched",
          "[k1]") {
  const K1Case clean = device_case({.tokens = 2});
  const auto clean_after = launched(clean);
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()}) {
    K1Case poisoned = device_case({.tokens = 2});
    poisoned.set("ar", 100, poison);
    const auto after = launched(poisoned);
    CHECK(disagreement(poisoned, after) == "");
    const auto row = [](const std::vector<kernels::Tensor>& tensors, std::string_view name) {
      const auto& bytes = kernels::reference::named(tensors, name).bytes;
      return std::vector(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end());
    };
    for (const auto* name : {"h_out", "q_out", "iq_out"}) CHECK(row(after, name) == row(clean_after, name));
  }
}

TEST_CASE("7, 9: Given slots and positions at every edge, when K1 ran, then only the right bytes changed", "[k1]") {
  const int page_stride = GENERATE(8, 16);
  struct Edge {
    std::int64_t first_slot, second_slot, first_position, second_position;
  };
  K1Case probe = device_case({.tokens = 2, .page_stride = page_stride});
  const auto last_slot = kernels::minimax_m3::kInsertBlocks * 128 - 1;
  const auto last_position = static_cast<std::int64_t>(probe.of<std::uint16_t>("cos_sin").size() / 64 - 1);
  for (const Edge& edge : {Edge{-1, -1, 0, last_position}, Edge{0, 15, 1, 31}, Edge{16, 127, last_position, 0},
                           Edge{143, 128, 31, 1}, Edge{last_slot, -1, 0, 0}, Edge{33, 34, 7, 8}}) {
    K1Case a_case = device_case({.tokens = 2, .page_stride = page_stride});
    a_case.set_slot(0, edge.first_slot);
    a_case.set_slot(1, edge.second_slot);
    a_case.set_position(0, edge.first_position);
    a_case.set_position(1, edge.second_position);
    a_case.check();
    INFO("slots " << edge.first_slot << ", " << edge.second_slot);
    CHECK(disagreement(a_case, launched(a_case)) == "");
  }
}

TEST_CASE("12: Given K beyond the FP8 range at a fixed scale, when K1 ran, then it saturates only if it is told to",
          "[k1]") {
  for (const bool saturate : {true, false}) {
    K1Case a_case = device_case({.tokens = 1, .kv_scale = KvScale::kStaticOne, .saturate = saturate});
    a_case.fill("g_k", 900);
    a_case.fill("g_ik", 900);
    a_case.set_slot(0, 40);
    CHECK(disagreement(a_case, launched(a_case)) == "");
  }
}

TEST_CASE("Given the options that must not change a result, when K1 ran, then outputs agree", "[k1]") {
  for (const K1Key& key : {K1Key{.tokens = 2, .page_base64 = false}, K1Key{.tokens = 2, .weight_nt = true},
                           K1Key{.tokens = 1, .eps = 0.25F}}) {
    const K1Case a_case = device_case(key, 3);
    CHECK(disagreement(a_case, launched(a_case)) == "");
  }
}
