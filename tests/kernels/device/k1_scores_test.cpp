#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "kernels/minimax_m3/k1/layout.h"
#include "runtime/hip/emulator_extras.h"
#include "tests/kernels/device/k1_launch.h"

// K1's index scores against the references (specification §16.2; numbers are its cases).
namespace {

using namespace monojit;
namespace m3 = kernels::minimax_m3;
using m3::K1Case;
using m3::K1Key;
using m3::Requests;
using tests::device_case;
using tests::disagreement;
using tests::launched;

constexpr std::int64_t kLongest = std::int64_t{1} << 20;
constexpr std::uint8_t kNan = 0x7F;
constexpr std::uint8_t kFnuzNan = 0x80;

K1Case step(const K1Key& key, const Requests& requests, std::uint64_t seed = 0) {
  K1Case a_case = device_case(key, seed);
  a_case.set_requests(requests);
  a_case.check();
  return a_case;
}

void check_step(const K1Case& a_case) { CHECK(disagreement(a_case, launched(a_case)) == ""); }

std::uint8_t nan_byte() { return tests::device().arch() == "gfx950" ? kNan : kFnuzNan; }

std::size_t argument_index(std::string_view name) {
  const auto& arguments = m3::kK1Arguments;
  return static_cast<std::size_t>(std::ranges::find(arguments, name, &kernels::Argument::name) - std::begin(arguments));
}

}  // namespace

TEST_CASE("3: Given keys whose products cancel, when K1 ran, then its order of summation is the specified one",
          "[k1][model]") {
  K1Case shared = step({.tokens = 2, .index_heads = 4, .index_own = 1}, {.lengths = {300 * 128, 60 * 128}});
  shared.make_score_order_sensitive(1);
  check_step(shared);
}

TEST_CASE("14: Given index keys and queries beyond both ends of FP8, when K1 ran, then bytes and scores agree",
          "[k1]") {
  K1Case large = step({.tokens = 3}, {.lengths = {2049, 2200, 70}});
  large.fill("g_ik", 900);
  large.fill("g_iq", 900);
  check_step(large);
  K1Case small = step({.tokens = 3}, {.lengths = {2049, 2200, 70}});
  small.fill("g_ik", -0.99609375F);  // 1 + g = 2^-8
  small.fill("g_iq", -0.99609375F);
  check_step(small);
}

TEST_CASE("15: Given a length on either side of every edge, when K1 ran, then every score agrees", "[k1]") {
  // Unscored, scored; 256 and 257 tasks; 288 and 289 blocks; more than 512.
  for (const std::int64_t keys : {1, 128, 129, 2048, 2049, 257 * 128, 257 * 128 + 1, 65537}) {
    INFO(keys << " keys");
    check_step(step({.tokens = 1}, {.lengths = {keys}}));
  }
  for (const std::int64_t keys : {36864, 36865}) {
    INFO(keys << " keys, four heads");
    check_step(step({.tokens = 1, .index_heads = 4, .index_own = 3}, {.lengths = {keys}}));
  }
}

TEST_CASE("15: Given the longest length, when K1 ran, then every score agrees", "[k1]") {
  check_step(step({.tokens = 2, .index_heads = 4, .index_own = 1}, {.lengths = {kLongest, 129}}));
}

TEST_CASE("15: Given many requests, when K1 ran, then a task a workgroup and a task a wave give the same bits",
          "[k1][model]") {
  // 16 requests of 16 scored blocks are 256 tasks; one block more for the last of them is 257.
  Requests requests{.lengths = std::vector<std::int64_t>(16, 2049)};
  requests.lengths.back() = 2177;
  const K1Case many = step({.tokens = 16}, requests);
  K1Case few = many;
  few.of<std::int32_t>("seq_lens")[15] = 2049;
  few.check();
  const auto few_after = launched(few);
  CHECK(disagreement(few, few_after) == "");
  const auto many_after = launched(many);
  CHECK(disagreement(many, many_after) == "");
  for (int row = 0; row < 15; ++row) {
    for (int block = 0; block < 16; ++block) {
      CHECK(m3::score(few_after, row, block) == m3::score(many_after, row, block));
    }
  }
}

TEST_CASE("15: Given pinned first and last blocks, when K1 ran, then only those between are scored", "[k1]") {
  check_step(step({.tokens = 3, .init_blocks = 2, .local_blocks = 3}, {.lengths = {2049, 4000, 40}}));
  check_step(step({.tokens = 2, .index_heads = 4, .index_own = 2, .init_blocks = 5, .local_blocks = 11},
                  {.lengths = {300 * 128, 17 * 128}}));
}

TEST_CASE("16: Given masked keys, when K1 ran, then NaN in them is harmless and a row without keys has minus infinity",
          "[k1]") {
  K1Case a_case = step({.tokens = 4, .signal = true}, {.q_len = 4, .lengths = {17 * 128 + 3}});
  const auto lengths = a_case.of<std::int32_t>("seq_lens");
  lengths[0] = 5 * 128 - 1;
  lengths[1] = 5 * 128;
  lengths[2] = 5 * 128 + 1;
  a_case.index_key(3, 5 * 128 + 1)[127] = nan_byte();  // seen by row 3 alone
  const auto after = launched(a_case);
  CHECK(disagreement(a_case, after) == "");
  CHECK(m3::score(after, 1, 5) == -std::numeric_limits<float>::infinity());
  CHECK(std::isfinite(m3::score(after, 2, 5)));
  CHECK(std::isnan(m3::score(after, 3, 5)));
}

TEST_CASE("17: Given rows that cross a block's end, when K1 ran, then scores see the keys of this launch", "[k1]") {
  const int q_len = GENERATE(2, 4, 8, 16);
  K1Case a_case =
      step({.tokens = 16, .signal = true}, {.q_len = q_len, .lengths = {17 * 128 + 1, 20 * 128 + q_len / 2}});
  for (int row = 0; row < 16; ++row) {
    const std::int64_t key = a_case.of<std::int32_t>("seq_lens")[static_cast<std::size_t>(row)] - 1;
    std::ranges::fill(a_case.index_key(row, key), nan_byte());  // what a stale read finds
  }
  const auto after = launched(a_case);
  INFO("q_len " << q_len);
  CHECK(disagreement(a_case, after) == "");
  CHECK(std::isfinite(m3::score(after, q_len - 1, 16)));
}

TEST_CASE("18: Given a long and a short request and four heads, when K1 ran, then each rank has its share of both",
          "[k1][model]") {
  const int own = GENERATE(0, 1, 2, 3);
  const bool signal = own % 2 == 1;
  check_step(step({.tokens = 4, .index_heads = 4, .index_own = own, .signal = signal},
                  {.q_len = signal ? 2 : 1, .lengths = {289 * 128 + 1, 2300}}));
}

TEST_CASE("18: Given a long request of 16 rows and four heads, when K1 ran, then all 64 columns agree", "[k1]") {
  check_step(step({.tokens = 16, .index_heads = 4, .index_own = 1, .signal = true},
                  {.q_len = 16, .lengths = {290 * 128 + 7}}));
}

TEST_CASE("19: Given four heads and no long request, when K1 ran, then outputs are one head's", "[k1]") {
  constexpr int kOwn = 3;
  const Requests requests{.lengths = {2049, 100, 4000}};
  K1Case four = step({.tokens = 3, .index_heads = 4, .index_own = kOwn}, requests);
  K1Case one = step({.tokens = 3}, requests);
  const auto move = [&](int from, int to) {
    constexpr std::size_t kBytes = std::size_t{m3::kHeadDim} * m3::kHidden;
    std::ranges::copy(four.of<std::uint8_t>("w_qkv").subspan(from * kBytes, kBytes),
                      one.of<std::uint8_t>("w_qkv").subspan(to * kBytes, kBytes).begin());
    std::ranges::copy(four.of<float>("s_qkv").subspan(std::size_t{128} * from, 128),
                      one.of<float>("s_qkv").subspan(std::size_t{128} * to, 128).begin());
  };
  for (int head = 0; head < 18; ++head) move(head, head);
  move(18 + kOwn, 18);
  move(22, 19);
  const auto want = launched(four);
  const auto got = launched(one);
  CHECK(disagreement(four, want) == "");
  CHECK(disagreement(one, got) == "");
  for (const auto* name : {"h_out", "q_out", "iq_out", "k_cache", "v_cache", "index_cache", "iscore"}) {
    CHECK(tests::same(want, got, name));
  }
}

TEST_CASE("21: Given workgroups in another order, when K1 ran, then all bits are equal", "[k1]") {
  if (!tests::device().emulated()) SKIP("a chip's order is as it is");
  constexpr int kOrders = 4;
  const K1Case a_case = step({.tokens = 4, .index_heads = 4, .index_own = 1, .signal = true},
                             {.q_len = 2, .lengths = {289 * 128 + 1, 2049}});
  const auto first = launched(a_case);
  CHECK(disagreement(a_case, first) == "");
  for (int order = 1; order <= kOrders; ++order) {
    runtime::set_emulator_option(tests::device().hip(), "seed", std::to_string(order));
    const auto after = launched(a_case);
    for (const kernels::Tensor& tensor : a_case.tensors) CHECK(tests::same(first, after, tensor.name));
  }
  runtime::set_emulator_option(tests::device().hip(), "seed", "0");
}

TEST_CASE("8, 26: Given blocks beyond 2^31 bytes of every cache and the widest table, when K1 ran, then outputs agree",
          "[k1]") {
  // The caches are small; their addresses are moved down by what the block numbers are moved up.
  constexpr std::int64_t kMovedBlocks = std::int64_t{1} << 17;  // 2^31 bytes of index keys, 2^32 of K and of V
  K1Case a_case = step({.tokens = 3, .signal = true}, {.lengths = {2200, kLongest / 64, 5}});
  kernels::Tensor& table = kernels::reference::named(a_case.tensors, "block_table");
  const auto narrow = a_case.of<std::int32_t>("block_table");
  std::vector<std::byte> wide(std::size_t{3} * m3::kScorePairs * 4);
  const std::size_t width = narrow.size() / 3;
  for (std::size_t row = 0; row < 3; ++row) {
    std::ranges::copy(std::as_bytes(narrow.subspan(row * width, width)),
                      wide.begin() + static_cast<std::ptrdiff_t>(row * m3::kScorePairs * 4));
  }
  table.shape = {3, m3::kScorePairs};
  table.bytes = wide;
  a_case.of<std::int32_t>("bt_width")[0] = m3::kScorePairs;
  const auto expected = a_case.expected(kernels::reference::matrix_model(tests::device_traits().matrix_model));

  K1Case moved = a_case;
  const auto blocks = kernels::reference::named(moved.tensors, "index_cache").shape[0];
  for (std::int32_t& block : moved.of<std::int32_t>("block_table")) {
    if (block >= 0 && block < blocks) block += static_cast<std::int32_t>(kMovedBlocks);  // not garbage
  }
  for (std::int64_t& slot : moved.of<std::int64_t>("slot_mapping")) slot += kMovedBlocks * m3::kBlock;
  const auto key = tests::build_key(moved.key);
  runtime::DeviceTensors tensors(tests::device(), key.family(), moved.tensors);
  const auto move = [&](std::string_view name, std::int64_t bytes_a_block) {
    const std::size_t index = argument_index(name);
    const auto address = reinterpret_cast<std::uintptr_t>(tensors.buffer(index).address());
    tensors.values()[index] =
        reinterpret_cast<const void*>(address - static_cast<std::uintptr_t>(kMovedBlocks * bytes_a_block));
  };
  const std::int64_t page_bytes = std::int64_t{moved.key.page_stride} * m3::kPageBytes;
  move("index_cache", std::int64_t{m3::kBlock} * m3::kHeadDim);
  move("k_cache", page_bytes);
  move("v_cache", page_bytes);
  move("k_scale", std::int64_t{moved.key.page_stride} * m3::kPageTokens * 4);
  move("v_scale", std::int64_t{moved.key.page_stride} * m3::kPageTokens * 4);
  tests::launch(tests::loaded(key), tensors);
  const auto after = tensors.download(moved.tensors);
  for (const auto* name : {"iscore", "index_cache", "k_cache", "v_cache", "k_scale", "v_scale", "q_out", "scratch"}) {
    CHECK(tests::same(after, expected, name));
  }
}
