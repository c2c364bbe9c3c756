#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "kernels/minimax_m3/k1/reference/norm.h"

// What workgroups hand to each other through the scratch, in every build: activations, projection, done flags.
namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using reference::Fp8Format;

/// Words of the scratch that a launch of `a_case` changed, as a set of the regions' names.
std::set<std::string> changed_regions(const K1Case& a_case) {
  struct Region {
    const char* name;
    std::int64_t begin, end;
  };
  constexpr Region kRegions[] = {{"qkv", 0, 376832},           {"x8", 376832, 475136},
                                 {"health", 475136, 483360},   {"gap", 483360, 573440},
                                 {"x8_scale", 573440, 573568}, {"heads_done", 573568, 576128},
                                 {"rows_done", 576128, 576256}};
  const auto after = a_case.expected();
  const auto& before_bytes = reference::named(a_case.tensors, "scratch").bytes;
  const auto& bytes = reference::named(after, "scratch").bytes;
  std::set<std::string> names;
  for (const Region& region : kRegions) {
    if (!std::equal(bytes.begin() + region.begin, bytes.begin() + region.end, before_bytes.begin() + region.begin)) {
      names.insert(region.name);
    }
  }
  return names;
}

TEST_CASE("activations are published from three tokens on, flags with signal") {
  using Names = std::set<std::string>;
  CHECK(changed_regions(K1Case({.tokens = 2})) == Names{"qkv"});
  CHECK(changed_regions(K1Case({.tokens = 3})) == Names{"qkv", "x8", "x8_scale"});
  CHECK(changed_regions(K1Case({.tokens = 2, .signal = true})) == Names{"qkv", "heads_done", "rows_done"});
  CHECK(changed_regions(K1Case({.tokens = 16, .index_heads = 4, .signal = true})) ==
        Names{"qkv", "x8", "x8_scale", "heads_done", "rows_done"});
}

TEST_CASE("published activations are those of the norm, a row of 6144 bytes a token, with its scale and tag") {
  for (const char* arch : {"gfx950", "gfx942"}) {
    K1Case a_case({.tokens = 5}, arch);
    a_case.set_launch(3, 9);
    const auto after = a_case.expected();
    const auto words = elements<std::uint32_t>(after, "scratch");
    for (std::size_t token = 0; token < 5; ++token) {
      const auto row = [&](const char* name) {
        return elements<BFloat16Bits>(a_case.tensors, name).subspan(token * kHidden, kHidden);
      };
      const QuantisedRow want = normalise_row(row("ar"), row("res"), elements<BFloat16Bits>(a_case.tensors, "g_in"),
                                              a_case.key.eps, chip_rules(arch))
                                    .quantised;
      CHECK(std::ranges::equal(elements<std::uint8_t>(after, "scratch").subspan(376832 + token * 6144, 6144),
                               want.bytes));
      CHECK(words[573440 / 4 + 2 * token] == std::bit_cast<std::uint32_t>(want.scale));
      CHECK(words[573440 / 4 + 2 * token + 1] == 3 * 128 + 9 + 1);
    }
  }
}

TEST_CASE("done flags are 1 with the tag, for every token and head task, padding included") {
  K1Case a_case({.tokens = 4, .signal = true});
  a_case.set_requests({.q_len = 2, .lengths = {70, 0}});
  a_case.set_launch(1, 0);
  const auto after = a_case.expected();
  const auto words = elements<std::uint32_t>(after, "scratch");
  for (std::size_t flag = 0; flag < 4 * 20; ++flag) {
    CHECK(words[573568 / 4 + 2 * flag] == 1);
    CHECK(words[573568 / 4 + 2 * flag + 1] == 129);
  }
  for (std::size_t flag = 0; flag < 4; ++flag) {
    CHECK(words[576128 / 4 + 2 * flag] == 1);
    CHECK(words[576128 / 4 + 2 * flag + 1] == 129);
  }
  CHECK(words[576128 / 4 + 8] == 0);
}

/// Element (n, k) of the weight by the lane that loads it, not by the address formula.
void set_loaded_weight(K1Case& a_case, std::size_t n, std::size_t k, std::uint8_t byte) {
  const std::size_t lane = 16 * (k % 64 / 16) + n % 16;
  a_case.of<std::uint8_t>("w_qkv")[512 * (192 * (n / 16) + 2 * (k / 64)) + 16 * lane + k % 16] = byte;
}

TEST_CASE("one weight meets one activation in its row alone, for both head counts") {
  struct Place {
    int heads;
    std::size_t n;
    bool short_step;  // whether a step without long requests projects that row
  };
  constexpr int kOwn = 1;
  const Place places[] = {{1, 0, true},     {1, 15, true},    {1, 16, true},   {1, 2047, true}, {1, 2048, true},
                          {1, 2175, true},  {1, 2176, true},  {1, 2304, true}, {1, 2559, true}, {4, 0, true},
                          {4, 2303, true},  {4, 2304, false}, {4, 2432, true}, {4, 2559, true}, {4, 2560, false},
                          {4, 2815, false}, {4, 2816, true},  {4, 2943, true}};
  const std::size_t inputs[] = {0, 15, 16, 31, 32, 63, 64, 767, 768, 6143};
  std::size_t turn = 0;
  for (const Place& place : places) {
    const std::size_t k = inputs[turn++ % std::size(inputs)];
    for (const bool long_step : {false, true}) {
      if (place.heads == 1 && long_step) continue;
      K1Case a_case(
          {.tokens = 3, .index_heads = place.heads, .index_own = place.heads == 1 ? 0 : kOwn, .scorer = false});
      a_case.set_requests({.lengths = {long_step ? 300 * 128 : 5, 7}});
      a_case.clear_weights();
      for (int token = 0; token < 3; ++token) a_case.clear_row(token);
      a_case.fill("g_in", 0);
      a_case.fill("s_qkv", 1);
      set_loaded_weight(a_case, place.n, k, reference::fp8_bits(Fp8Format::kOcp, 2));
      a_case.set("res", kHidden + k, 1);  // of token 1
      const auto after = a_case.expected();
      const auto rstd = static_cast<float>(1 / std::sqrt(1.0 / 6144 + 1e-6));
      std::size_t wrong = 0;
      for (int token = 0; token < 3; ++token) {
        for (int n = 0; n < projection_rows(place.heads); ++n) {
          const bool here = token == 1 && static_cast<std::size_t>(n) == place.n && (long_step || place.short_step);
          const float value = qkv_value(after, token, n);
          wrong += here ? std::fabs(value - 2 * rstd) > rstd / 64 : value != 0;
        }
      }
      INFO("row " << place.n << ", input " << k << ", heads " << place.heads << (long_step ? ", long" : ""));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("other ranks' index queries are projected in long steps only") {
  for (int own = 0; own < 4; ++own) {
    K1Case a_case({.tokens = 2, .index_heads = 4, .index_own = own, .scorer = false});
    a_case.set_launch(1, 1);
    for (const bool long_step : {false, true}) {
      a_case.set_requests({.lengths = {long_step ? 289 * 128 : 288 * 128, 9}});
      const auto after = a_case.expected();
      std::set<int> heads;
      for (int head = 0; head < 23; ++head) {
        if (qkv_tag(after, 1, head * kHeadDim + 127) == 130) heads.insert(head);
      }
      std::set<int> want;
      for (int head = 0; head < 23; ++head) {
        const bool other = head >= 18 && head < 22 && head != 18 + own;
        if (long_step || !other) want.insert(head);
      }
      CHECK(heads == want);
    }
  }
}

TEST_CASE("the own index query and the index key come from their heads, wherever they stand") {
  for (int own = 0; own < 4; ++own) {
    const K1Case a_case({.tokens = 1, .index_heads = 4, .index_own = own}, "gfx950", 5);
    const auto after = a_case.expected();
    // Dim 100 is not rotated.
    const auto normed = [&](int head, const char* gamma) {
      double squares = 0;
      for (int d = 0; d < kHeadDim; ++d) squares += std::pow(qkv_value(after, 0, head * kHeadDim + d), 2);
      return qkv_value(after, 0, head * kHeadDim + 100) / std::sqrt(squares / 128 + 1e-6) *
             (1 + a_case.get(gamma, 100));
    };
    const double q = normed(18 + own, "g_iq");
    CHECK(std::fabs(reference::bf16_value(elements<BFloat16Bits>(after, "iq_out")[100]) - q) <= std::fabs(q) / 200);
    const auto slot = static_cast<std::size_t>(elements<std::int64_t>(a_case.tensors, "slot_mapping")[0]);
    const double k = normed(22, "g_ik");
    const float byte =
        reference::fp8_value(Fp8Format::kOcp, elements<std::uint8_t>(after, "index_cache")[128 * slot + 100]);
    CHECK(std::fabs(byte - k) <= std::fabs(k) / 14 + 0x1p-9);
  }
}

TEST_CASE("four heads with no long request are one head with another order of the weight's rows") {
  constexpr int kOwn = 3;
  K1Case four({.tokens = 3, .index_heads = 4, .index_own = kOwn});
  four.set_requests({.lengths = {2049, 100, 4000}});
  K1Case one({.tokens = 3});
  one.set_requests({.lengths = {2049, 100, 4000}});
  const auto move = [&](int from, int to) {
    constexpr std::size_t kBytes = std::size_t{kHeadDim} * kHidden;
    std::ranges::copy(four.of<std::uint8_t>("w_qkv").subspan(from * kBytes, kBytes),
                      one.of<std::uint8_t>("w_qkv").subspan(to * kBytes, kBytes).begin());
    std::ranges::copy(four.of<float>("s_qkv").subspan(std::size_t{128} * from, 128),
                      one.of<float>("s_qkv").subspan(std::size_t{128} * to, 128).begin());
  };
  for (int head = 0; head < 18; ++head) move(head, head);
  move(18 + kOwn, 18);
  move(22, 19);
  for (const Tensor& tensor : four.tensors) {
    if (tensor.name != "w_qkv" && tensor.name != "s_qkv") reference::named(one.tensors, tensor.name) = tensor;
  }
  const auto want = four.expected();
  const auto got = one.expected();
  for (const char* name : {"q_out", "iq_out", "k_cache", "v_cache", "index_cache", "iscore", "h_out"}) {
    CHECK(reference::named(want, name).bytes == reference::named(got, name).bytes);
  }
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
