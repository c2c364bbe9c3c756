#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "kernels/minimax_m3/k1/reference/compare.h"
#include "kernels/minimax_m3/k1/reference/head.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "kernels/minimax_m3/k1/reference/wide.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using reference::MatrixModel;

std::set<std::string> failing(const std::vector<Comparison>& rows) {
  std::set<std::string> names;
  for (const Comparison& row : rows) {
    if (!row.ok) names.insert(row.name);
  }
  return names;
}

TEST_CASE("the reference passes its own comparison and the wide bounds, for every key, chip and matrix model") {
  std::uint64_t seed = 0;
  for (const char* arch : {"gfx950", "gfx942"}) {
    for (const int stride : {8, 16}) {
      for (const KvScale mode : {KvScale::kPerToken, KvScale::kStaticOne, KvScale::kScalarRead}) {
        const auto model = static_cast<MatrixModel>(seed % 3);
        const bool four_heads = seed % 3 == 1;
        const K1Case a_case({.tokens = 1 + static_cast<int>(3 * seed % 16),
                             .index_heads = four_heads ? 4 : 1,
                             .index_own = four_heads ? static_cast<int>(seed % 4) : 0,
                             .page_stride = stride,
                             .kv_scale = mode,
                             .signal = seed % 5 < 2,
                             .saturate = seed % 4 < 2},
                            arch, seed);
        INFO(arch << " stride " << stride << " seed " << seed);
        CHECK(failing(a_case.compare(a_case.expected(model), model)).empty());
        ++seed;
      }
    }
  }
}

TEST_CASE("rows count whole tensors and carry one element's distance and bound") {
  const K1Case a_case;
  const std::vector<Comparison> rows = a_case.compare(a_case.expected());
  REQUIRE(rows.size() == 13);
  CHECK(rows[0].name == "h_out");
  CHECK(rows[0].elements == kHidden);
  CHECK(rows[0].max_error > 0);
  for (const Comparison& row : rows) CHECK(row.max_error <= row.bound);
}

TEST_CASE("one wrong byte fails the row of its tensor") {
  const K1Case a_case;
  const std::vector<Tensor> right = a_case.expected();
  std::vector<Tensor> wrong_outputs = right;
  std::vector<Tensor> wrong_inputs = right;
  std::set<std::string> outputs;
  std::size_t inputs = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::vector<Tensor>& wrong = kK1Arguments[i].written ? wrong_outputs : wrong_inputs;
    wrong[i].bytes.back() ^= std::byte{0x10};
    if (kK1Arguments[i].written) {
      outputs.insert(right[i].name);
    } else {
      ++inputs;
    }
  }
  CHECK(failing(a_case.compare(wrong_outputs)) == outputs);
  const std::vector<Comparison> rows = a_case.compare(wrong_inputs);
  CHECK(failing(rows) == std::set<std::string>{"inputs"});
  for (const Comparison& row : rows) CHECK(row.mismatches == (row.name == "inputs" ? inputs : 0));
}

TEST_CASE("a wrong value or tag in the mailbox fails qkv") {
  const K1Case a_case;
  for (const std::size_t word : {std::size_t{0}, std::size_t{1}}) {
    std::vector<Tensor> wrong = a_case.expected();
    elements<std::uint32_t>(wrong, "scratch")[std::size_t{2} * (projection_rows(1) - 1) + word] ^= 0x10000U;
    CHECK(failing(a_case.compare(wrong)).contains("qkv"));
  }
}

TEST_CASE("a wrong activation, scale, flag, score or health word fails its row") {
  K1Case a_case({.tokens = 3, .signal = true});
  a_case.set_requests({.lengths = {2049, 30, 500}});
  const std::vector<Tensor> right = a_case.expected();
  CHECK(failing(a_case.compare(right)).empty());
  struct Wrong {
    const char* tensor;
    std::size_t byte;
    const char* row;
  };
  const Wrong wrong[] = {{"scratch", 376832 + 2 * 6144, "x8"},      {"scratch", 573440 + 8 * 2, "x8"},
                         {"scratch", 573440 + 8 * 2 + 4, "x8"},     {"scratch", 573568 + 8 * 59, "flags"},
                         {"scratch", 576128 + 8 * 2 + 4, "flags"},  {"scratch", 475136, "scratch"},
                         {"scratch", 376832 + 3 * 6144, "scratch"}, {"scratch", 573568 + 8 * 60, "scratch"},
                         {"iscore", 8 * 3 + 2, "iscore"},           {"iscore", 8 * 3 + 4, "iscore"},
                         {"iscore", 8 * (15 * 8192 + 77), "iscore"}};
  for (const Wrong& change : wrong) {
    std::vector<Tensor> after = right;
    reference::named(after, change.tensor).bytes[change.byte] ^= std::byte{0x20};
    INFO(change.tensor << " byte " << change.byte);
    CHECK(failing(a_case.compare(after)).contains(change.row));
  }
}

TEST_CASE("the timeline is compared only where there is none") {
  const K1Case a_case({.timeline = true});
  std::vector<Tensor> after = a_case.expected();
  elements<std::int64_t>(after, "tl")[0] = 123;
  CHECK(failing(a_case.compare(after)).empty());
}

TEST_CASE("the wide reference alone notices values beyond the bound") {
  const K1Case a_case;
  const auto with_change = [&](auto change) {
    std::vector<Tensor> after = a_case.expected();
    change(after);
    return check_wide(a_case.key, a_case.arch, a_case.tensors, after);
  };
  const auto step = [](std::vector<Tensor>& after, std::string_view name, std::size_t index) {
    elements<BFloat16Bits>(after, name)[index] ^= 4;  // four bf16 places
  };
  CHECK_FALSE(with_change([&](auto& after) { step(after, "h_out", 100); }).h_out.within());
  CHECK_FALSE(with_change([&](auto& after) { step(after, "q_out", 2047); }).q_out.within());
  CHECK_FALSE(with_change([&](auto& after) { step(after, "iq_out", 64); }).iq_out.within());
  CHECK_FALSE(
      with_change([&](auto& after) { elements<std::uint32_t>(after, "scratch")[2 * 700] ^= 0x40000U; }).qkv.within());

  const auto slot = elements<std::int64_t>(a_case.tensors, "slot_mapping")[0];
  const CachePlace place = cache_place(slot, a_case.key.page_stride);
  const auto flip = [](std::vector<Tensor>& after, std::string_view name, std::int64_t byte) {
    elements<std::uint8_t>(after, name)[byte] ^= 0x10;
  };
  CHECK_FALSE(with_change([&](auto& after) { flip(after, "k_cache", k_cache_byte(place, 3)); }).k_cache.within());
  CHECK_FALSE(with_change([&](auto& after) { flip(after, "v_cache", v_cache_byte(place, 127)); }).v_cache.within());
  CHECK_FALSE(
      with_change([&](auto& after) { flip(after, "index_cache", index_cache_byte(place, 9)); }).index_cache.within());
  CHECK_FALSE(with_change([&](auto& after) {
                elements<float>(after, "k_scale")[scale_index(place)] *= 1.0001F;
              }).k_scale.within());
}

TEST_CASE("the wide reference alone notices activations and scores beyond the bound") {
  K1Case a_case({.tokens = 3, .index_heads = 4, .index_own = 1});
  a_case.set_requests({.lengths = {290 * 128, 2049, 500}});
  const std::vector<Tensor> right = a_case.expected();
  const auto with_byte = [&](const char* tensor, std::size_t byte) {
    std::vector<Tensor> after = right;
    reference::named(after, tensor).bytes[byte] ^= std::byte{0x10};
    return check_wide(a_case.key, a_case.arch, a_case.tensors, after);
  };
  CHECK(check_wide(a_case.key, a_case.arch, a_case.tensors, right).iscore.within());
  CHECK(check_wide(a_case.key, a_case.arch, a_case.tensors, right).x8.within());
  CHECK_FALSE(with_byte("scratch", 376832 + 6144 + 5).x8.within());
  CHECK_FALSE(with_byte("scratch", 573440 + 8 + 1).x8.within());
  CHECK_FALSE(with_byte("iscore", 8 * (8192 + 15) + 1).iscore.within());
  CHECK_FALSE(with_byte("iscore", 8 * (3 * 2048 + 5) + 1).iscore.within());
}

TEST_CASE("the stages behind the projection are judged by the device's own projection") {
  // A device whose matrix core sums otherwise leaves another bf16 in places; what follows from it is right all the
  // same.
  const K1Case a_case;
  std::vector<Tensor> after = a_case.expected();
  constexpr std::size_t kFirst = std::size_t{kIndexQTask} * kHeadDim;
  elements<std::uint32_t>(after, "scratch")[2 * kFirst] ^= 0x80000U;
  CHECK_FALSE(check_wide(a_case.key, a_case.arch, a_case.tensors, after).iq_out.within());

  std::array<float, kHeadDim> head{};
  for (int d = 0; d < kHeadDim; ++d) head[d] = qkv_value(after, 0, static_cast<int>(kFirst) + d);
  const auto position = static_cast<std::size_t>(elements<std::int64_t>(a_case.tensors, "positions")[0]);
  const auto cos_sin = elements<BFloat16Bits>(a_case.tensors, "cos_sin").subspan(position * kRotaryDim, kRotaryDim);
  const HeadVector out = norm_and_rotate(head, elements<BFloat16Bits>(a_case.tensors, "g_iq"), cos_sin, a_case.key.eps);
  std::ranges::transform(out, elements<BFloat16Bits>(after, "iq_out").begin(), reference::bf16_bits);
  CHECK(check_wide(a_case.key, a_case.arch, a_case.tensors, after).iq_out.within());
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
