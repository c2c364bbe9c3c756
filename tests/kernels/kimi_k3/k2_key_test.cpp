#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/kimi_k3/k2/arguments.h"
#include "kernels/kimi_k3/k2/key.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("a K2 key has the released kernel's fields and defaults") {
  const K2Key key = k2_key(BuildKey::parse("kimi_k3.k2{tokens=8,nblocks=4}"));
  CHECK(key.tokens == 8);
  CHECK(key.nblocks == 4);
  CHECK(key.sources() == 5);
  CHECK(std::bit_cast<std::uint32_t>(key.eps) == 0x3727C5ACU);  // 1e-5
  CHECK(key.out_eps == key.eps);
  CHECK(key.ln_eps == key.eps);
  CHECK(key.reduce);
  CHECK_FALSE(key.reset);
  CHECK(key.fault_rank == -1);
}

TEST_CASE("K2 is built for 1 to 8 rows and 1 to 8 blocks") {
  for (const char* const text : {"kimi_k3.k2{tokens=0,nblocks=1}", "kimi_k3.k2{tokens=9,nblocks=1}",
                                 "kimi_k3.k2{tokens=1,nblocks=0}", "kimi_k3.k2{tokens=1,nblocks=9}"}) {
    CHECK_THROWS_MATCHES(BuildKey::parse(text), UserError, MessageMatches(ContainsSubstring("1..8")));
  }
}

TEST_CASE("K2 is refused for a chip without scaled matrix instructions, and a fault without a rank, in one message") {
  const BuildKey key = BuildKey::parse("kimi_k3.k2{tokens=1,nblocks=1,fault_ticks=5}");
  CHECK_THROWS_MATCHES(validate(key, "gfx942"), UserError,
                       MessageMatches(ContainsSubstring("gfx950") && ContainsSubstring("fault_rank")));
  validate(BuildKey::parse("kimi_k3.k2{tokens=1,nblocks=1,fault_rank=0,fault_ticks=5}"), "gfx950");
}

TEST_CASE("K2's 28 arguments lie where the released kernel has them") {
  struct Place {
    std::string_view name;
    std::uint32_t offset;
  };
  // Specification §3.3.
  constexpr Place kPlaces[] = {{"core", 0},    {"w_o", 8},       {"prefix", 16},  {"blocks", 24}, {"blk_sm", 32},
                               {"blk_sr", 36}, {"ares_nw", 40},  {"ares_qk", 48}, {"in_nw", 56},  {"w_gate", 64},
                               {"bias", 72},   {"w_ld", 80},     {"w_sgu", 88},   {"w_sd", 96},   {"w13", 104},
                               {"w13s", 112},  {"w2", 120},      {"w2s", 128},    {"ln_w", 136},  {"w_up", 144},
                               {"out", 152},   {"scratch", 160}, {"peers", 168},  {"rank", 176},  {"epoch", 184},
                               {"layer", 192}, {"health", 200},  {"alarm", 208},  {"tl", 216}};
  REQUIRE(std::size(kK2Arguments) == std::size(kPlaces));
  std::uint32_t offset = 0;
  for (std::size_t i = 0; i < std::size(kPlaces); ++i) {
    const std::uint32_t bytes = argument_bytes(kK2Arguments[i].type);
    offset = (offset + bytes - 1) / bytes * bytes;
    INFO(kPlaces[i].name);
    CHECK(kK2Arguments[i].name == kPlaces[i].name);
    CHECK(offset == kPlaces[i].offset);
    offset += bytes;
  }
  CHECK(offset == 224);
}

TEST_CASE("the model's layers use 15 pairs of block count and reset") {
  std::set<std::pair<int, bool>> pairs;
  for (int layer = kFirstLayer; layer <= kLastLayer; ++layer)
    pairs.emplace(blocks_of_layer(layer), resets_prefix(layer));
  std::set<std::pair<int, bool>> expected = {{1, false}};
  for (int blocks = 2; blocks <= 8; ++blocks) expected.insert({{blocks, false}, {blocks, true}});
  CHECK(pairs == expected);
  CHECK(blocks_of_layer(11) == 1);
  CHECK(blocks_of_layer(12) == 2);
  CHECK(blocks_of_layer(13) == 2);
  CHECK(blocks_of_layer(92) == 8);
}

TEST_CASE("tags follow epoch and slot, wrap after 2^22 steps and are never 0") {
  CHECK(launch_tag(1, 1) == 258);
  CHECK(launch_tag(1, back_slot(1)) == 386);
  CHECK(launch_tag(4194303, back_slot(92)) == 1073741789);
  CHECK(launch_tag(4194304, back_slot(1)) == 130);
  CHECK(launch_tag(0, 0) == 1);
  CHECK(launch_tag(-1, back_slot(1)) > 0);
  CHECK(epoch_parity(-1) == 1);
  CHECK(epoch_parity(4194304) == 0);
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
