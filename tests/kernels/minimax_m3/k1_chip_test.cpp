#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "kernels/minimax_m3/k1/reference/norm.h"

// Whole launches of the reference that compare two of them: chips, tokens, and where a weight's product goes.
namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using reference::Fp8Format;
using reference::MatrixModel;

constexpr std::uint64_t kSeed = 4;

TEST_CASE("gfx942 gets the same activation bytes with a doubled scale") {
  const K1Case a_case({}, "gfx950", kSeed);
  const auto row = [&](const char* arch) {
    return normalise_row(elements<BFloat16Bits>(a_case.tensors, "ar"), elements<BFloat16Bits>(a_case.tensors, "res"),
                         elements<BFloat16Bits>(a_case.tensors, "g_in"), a_case.key.eps, chip_rules(arch));
  };
  const NormedRow ocp = row("gfx950");
  NormedRow fnuz = row("gfx942");
  CHECK(fnuz.quantised.scale == 2 * ocp.quantised.scale);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < kHidden; ++i) {
    const bool negative_zero = ocp.quantised.bytes[i] == 0x80;  // FNUZ has none
    differing += fnuz.quantised.bytes[i] != (negative_zero ? 0 : ocp.quantised.bytes[i]);
  }
  CHECK(differing == 0);
}

TEST_CASE("gfx942's uploaded weights project to the bits of gfx950's") {
  const K1Case ocp({}, "gfx950", kSeed);
  const K1Case fnuz({}, "gfx942", kSeed);
  CHECK(std::ranges::count(elements<std::uint8_t>(ocp.tensors, "w_qkv"), 0x80) > 0);
  CHECK(std::ranges::count(elements<std::uint8_t>(fnuz.tensors, "w_qkv"), 0x80) == 0);
  CHECK(fnuz.get("s_qkv", 77) == 2 * ocp.get("s_qkv", 77));
  for (const MatrixModel model : {MatrixModel::kCdna3, MatrixModel::kExact}) {
    const std::vector<Tensor> want = ocp.expected(model);
    const std::vector<Tensor> got = fnuz.expected(model);
    for (const char* name : {"scratch", "q_out", "iq_out", "h_out"}) {
      CHECK(reference::named(want, name).bytes == reference::named(got, name).bytes);
    }
    CHECK(reference::named(want, "k_cache").bytes != reference::named(got, "k_cache").bytes);  // 240, not 448
  }
}

/// Element (n, k) of the weight by the lane that loads it, not by the address formula.
std::uint8_t loaded_weight(const K1Case& a_case, std::size_t n, std::size_t k) {
  const std::size_t group = n / 16;
  const std::size_t chunk = k / 64;
  const std::size_t lane = 16 * (k % 64 / 16) + n % 16;
  return elements<std::uint8_t>(a_case.tensors, "w_qkv")[512 * (192 * group + 2 * chunk) + 16 * lane + k % 16];
}

TEST_CASE("a one-hot activation picks one column of the weight") {
  const std::size_t inputs[] = {0, 15, 16, 31, 32, 63, 64, 767, 768, 6143};
  for (std::size_t i = 0; i < std::size(inputs); i += 2) {
    K1Case a_case({.tokens = 2}, "gfx950", kSeed);
    for (int token = 0; token < 2; ++token) {
      a_case.clear_row(token);
      a_case.set("res", static_cast<std::size_t>(token) * kHidden + inputs[i + token], 3);
    }
    a_case.fill("g_in", 0);
    const std::vector<Tensor> after = a_case.expected();
    const auto rsq = static_cast<float>(1 / std::sqrt(static_cast<double>(9.0F / 6144 + 1e-6F)));
    const float activation_scale = 3 * rsq / 448;
    for (int token = 0; token < 2; ++token) {
      std::size_t wrong = 0;
      for (std::size_t n = 0; n < projection_rows(1); ++n) {
        const float y = 448 * reference::fp8_value(Fp8Format::kOcp, loaded_weight(a_case, n, inputs[i + token]));
        const float want = reference::round_bf16((y * activation_scale) * a_case.get("s_qkv", n));
        wrong += qkv_value(after, token, static_cast<int>(n)) != want;
      }
      INFO("input " << inputs[i + token]);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("one token's NaN or infinity leaves the others' bits alone") {
  constexpr int kTokens = 16;
  constexpr std::size_t kSpoiled = 5;
  const K1Case clean({.tokens = kTokens}, "gfx950", kSeed);
  const std::vector<Tensor> want = clean.expected();
  for (const float value : {std::nanf(""), -std::numeric_limits<float>::infinity()}) {
    K1Case spoiled = clean;
    spoiled.set("res", kSpoiled * kHidden + 17, value);
    const std::vector<Tensor> got = spoiled.expected();
    const auto q_want = elements<BFloat16Bits>(want, "q_out");
    const auto q_got = elements<BFloat16Bits>(got, "q_out");
    constexpr std::size_t kPitch = std::size_t{kQHeads} * kHeadDim;
    for (std::size_t token = 0; token < kTokens; ++token) {
      const bool same =
          std::ranges::equal(q_want.subspan(token * kPitch, kPitch), q_got.subspan(token * kPitch, kPitch));
      CHECK(same == (token != kSpoiled));
    }
    CHECK(std::isnan(reference::bf16_value(q_got[kSpoiled * kPitch])));
    const std::int64_t slot = elements<std::int64_t>(spoiled.tensors, "slot_mapping")[kSpoiled];
    const auto scale = [&](const char* name) {
      return elements<float>(got, name)[static_cast<std::size_t>(slot / 128 * 256 + slot % 128)];
    };
    CHECK(scale("k_scale") == 1);
    CHECK(scale("v_scale") == 1);
  }
}

TEST_CASE("tokens don't influence each other") {
  const K1Case pair({.tokens = 2}, "gfx950", kSeed);
  const std::vector<Tensor> both = pair.expected();
  K1Case single({.tokens = 1}, "gfx950", kSeed);
  for (const char* name : {"ar", "res", "positions"}) {
    Tensor& tensor = reference::named(single.tensors, name);
    const auto& bytes = reference::named(pair.tensors, name).bytes;
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end(), tensor.bytes.begin());
  }
  const std::vector<Tensor> alone = single.expected();
  for (int row = 0; row < projection_rows(1); ++row) {
    if (qkv_value(alone, 0, row) != qkv_value(both, 1, row)) FAIL("row " << row);
  }
  CHECK(elements<BFloat16Bits>(alone, "iq_out")[99] == elements<BFloat16Bits>(both, "iq_out")[128 + 99]);
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
