#include <algorithm>
#include <cstddef>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "tests/kernels/device/k1_launch.h"

// K1 at every token count: whole steps, rows that don't depend on each other (specification §16.2; numbers are its
// cases).
namespace {

using namespace monojit;
namespace m3 = kernels::minimax_m3;
using m3::K1Case;
using m3::K1Key;
using tests::device_case;
using tests::disagreement;
using tests::launched;

/// Bytes of row `row` of `rows` in a tensor.
std::vector<std::byte> row_of(const std::vector<kernels::Tensor>& tensors, std::string_view name, int row, int rows) {
  const auto& bytes = kernels::reference::named(tensors, name).bytes;
  const std::size_t pitch = bytes.size() / static_cast<std::size_t>(rows);
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * pitch);
  return {first, first + static_cast<std::ptrdiff_t>(pitch)};
}

void check_same_rows(const std::vector<kernels::Tensor>& a, const std::vector<kernels::Tensor>& b, int rows,
                     int but_row) {
  for (const auto* name : {"h_out", "q_out", "iq_out"}) {
    for (int row = 0; row < rows; ++row) {
      if (row != but_row) CHECK(row_of(a, name, row, rows) == row_of(b, name, row, rows));
    }
  }
}

}  // namespace

TEST_CASE("1: Given any number of rows, index heads and signal, when K1 ran, then every output agrees", "[k1]") {
  for (int tokens = 1; tokens <= m3::kMaxTokens; ++tokens) {
    const bool four_heads = tokens % 2 == 0;
    const K1Key key{.tokens = tokens,
                    .index_heads = four_heads ? 4 : 1,
                    .index_own = four_heads ? tokens / 2 % 4 : 0,
                    .page_stride = tokens % 3 == 0 ? 8 : 16,
                    .signal = tokens % 4 >= 2};
    const K1Case a_case = device_case(key, static_cast<std::uint64_t>(tokens));
    a_case.check();
    INFO("tokens " << tokens);
    CHECK(disagreement(a_case, launched(a_case)) == "");
  }
}

TEST_CASE("1: Given both sides of the norm tasks' and the poll batch's limits, when K1 ran, then every output agrees",
          "[k1][model]") {
  const int tokens = GENERATE(3, 13);
  const K1Case a_case = device_case({.tokens = tokens, .index_heads = 4, .index_own = 2, .signal = true}, 1);
  CHECK(disagreement(a_case, launched(a_case)) == "");
}

TEST_CASE("2: Given one weight and one activation, when K1 ran, then they meet in one row alone", "[k1]") {
  struct Place {
    int tokens, heads, n, k;
  };
  for (const Place& place : {Place{1, 1, 0, 0}, Place{2, 1, 15, 15}, Place{3, 1, 16, 16}, Place{1, 1, 2047, 31},
                             Place{2, 1, 2048, 32}, Place{3, 1, 2175, 63}, Place{1, 1, 2176, 64},
                             Place{2, 1, 2559, 767}, Place{3, 4, 2943, 768}, Place{16, 4, 2304 + 128, 6143}}) {
    K1Case a_case = device_case({.tokens = place.tokens, .index_heads = place.heads, .index_own = place.heads / 4});
    a_case.clear_weights();
    for (int token = 0; token < place.tokens; ++token) a_case.clear_row(token);
    a_case.fill("g_in", 0);
    a_case.set_weight(place.n, place.k, 2);
    a_case.set("res", static_cast<std::size_t>((place.tokens - 1) * m3::kHidden + place.k), 1);
    const auto after = launched(a_case);
    INFO("row " << place.n << ", input " << place.k);
    CHECK(disagreement(a_case, after) == "");
    CHECK(m3::qkv_value(after, place.tokens - 1, place.n) > 0);
  }
}

TEST_CASE("6: Given NaN or infinity in one row of 16, when K1 ran, then the other rows have the bits they had",
          "[k1]") {
  constexpr int kTokens = 16;
  constexpr int kSpoiled = 9;
  const K1Case clean = device_case({.tokens = kTokens});
  const auto want = launched(clean);
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    K1Case poisoned = clean;
    poisoned.set("res", kSpoiled * m3::kHidden + 4000, poison);
    const auto after = launched(poisoned);
    CHECK(disagreement(poisoned, after) == "");
    check_same_rows(after, want, kTokens, kSpoiled);
  }
}

TEST_CASE("22: Given a padding row with garbage, when K1 ran, then live rows have the bits of a run without it",
          "[k1]") {
  constexpr int kTokens = 4;
  K1Case clean = device_case({.tokens = kTokens});
  clean.set_requests({.lengths = {2100, 60, 3000, 0}});
  const auto want = launched(clean);
  K1Case poisoned = clean;
  for (const auto* name : {"ar", "res"}) {
    for (std::size_t i = 0; i < m3::kHidden; ++i) {
      poisoned.set(name, (kTokens - 1) * m3::kHidden + i, std::numeric_limits<float>::quiet_NaN());
    }
  }
  const auto after = launched(poisoned);
  CHECK(disagreement(poisoned, after) == "");
  check_same_rows(after, want, kTokens, kTokens - 1);
  for (const auto* name : {"k_cache", "v_cache", "k_scale", "index_cache", "iscore"})
    CHECK(tests::same(after, want, name));
}

TEST_CASE("25: Given gfx942, when K1 ran with more rows than its LDS holds, then its activations are gfx950's bytes",
          "[k1]") {
  if (tests::device().arch() != "gfx942") SKIP("of gfx942 only");
  constexpr int kTokens = 16;
  const K1Case ocp({.tokens = kTokens, .index_heads = 4}, "gfx950", 1);
  K1Case fnuz = device_case({.tokens = kTokens, .index_heads = 4}, 1);
  const auto want = ocp.expected();
  const auto after = launched(fnuz);
  CHECK(disagreement(fnuz, after) == "");
  const auto x8 = [](const std::vector<kernels::Tensor>& tensors) {
    return kernels::reference::elements<std::uint8_t>(tensors, "scratch")
        .subspan(m3::kScratchX8, std::size_t{kTokens} * m3::kHidden);
  };
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x8(want).size(); ++i) {
    const std::uint8_t byte = x8(want)[i] == 0x80 ? 0 : x8(want)[i];  // FNUZ has no -0
    wrong += x8(after)[i] != byte;
  }
  CHECK(wrong == 0);
}
