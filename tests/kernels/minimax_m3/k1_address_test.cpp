#include <cstdint>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/minimax_m3/k1/reference/addresses.h"

namespace monojit::kernels::minimax_m3 {
namespace {

TEST_CASE("a lane's 16 weight bytes are 16 inputs of its row") {
  constexpr int kLanes = 64;
  std::set<std::int64_t> seen;
  for (const std::int64_t group : {0, 1, 127, 159}) {
    for (std::int64_t chunk = 0; chunk < kChunks; ++chunk) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const std::int64_t first = 512 * (192 * group + 2 * chunk) + 16 * lane;
        for (std::int64_t i = 0; i < 16; ++i) {
          const std::int64_t n = 16 * group + lane % 16;
          const std::int64_t k = 64 * chunk + 16 * (lane / 16) + i;
          if (weight_byte(n, k) != first + i) FAIL("row " << n << ", input " << k);
          seen.insert(weight_byte(n, k));
        }
      }
    }
  }
  CHECK(seen.size() == std::size_t{4} * 16 * kHidden);
}

TEST_CASE("pages of a block follow each other, and page stride 16 leaves room for V") {
  struct Expected {
    std::int64_t slot, page8, page16, token;
  };
  const Expected expected[] = {{0, 0, 0, 0},    {15, 0, 0, 15},   {16, 1, 1, 0},        {127, 7, 7, 15},
                               {128, 8, 16, 0}, {143, 8, 16, 15}, {8191, 511, 1015, 15}};
  for (const Expected& e : expected) {
    INFO("slot " << e.slot);
    CHECK(cache_place(e.slot, 8).page == e.page8);
    CHECK(cache_place(e.slot, 16).page == e.page16);
    CHECK(cache_place(e.slot, 16).token == e.token);
    CHECK(scale_index(cache_place(e.slot, 16)) == 16 * e.page16 + e.token);
  }
}

TEST_CASE("K pages are [8][16 tokens][16 dims], V pages [128 dims][16 tokens], index K rows follow the slot") {
  const CachePlace place = cache_place(128 + 16 + 3, 16);  // block 1, page 17, token 3
  CHECK(k_cache_byte(place, 0) == 17 * 2048 + 3 * 16);
  CHECK(k_cache_byte(place, 17) == 17 * 2048 + 256 + 3 * 16 + 1);
  CHECK(k_cache_byte(place, 127) == 17 * 2048 + 7 * 256 + 3 * 16 + 15);
  CHECK(v_cache_byte(place, 0) == 17 * 2048 + 3);
  CHECK(v_cache_byte(place, 127) == 17 * 2048 + 127 * 16 + 3);
  CHECK(index_cache_byte(place, 5) == 147 * 128 + 5);
}

TEST_CASE("offsets past 4 GiB need 64-bit page addresses") {
  constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;
  constexpr std::int64_t kTwo32 = std::int64_t{1} << 32;
  // 128 bytes of K a slot at stride 8: slot 2^24 begins at 2^31, slot 2^25 at 2^32.
  CHECK(k_cache_byte(cache_place(std::int64_t{1} << 24, 8), 0) == kTwo31);
  const CachePlace far = cache_place(std::int64_t{1} << 25, 8);
  CHECK(k_cache_byte(far, 0) == kTwo32);
  CHECK(index_cache_byte(far, 1) == kTwo32 + 1);
  CHECK(k_cache_byte(cache_place(std::int64_t{1} << 24, 16), 0) == kTwo32);
  CHECK(reached_byte(kTwo32 + 5, true) == kTwo32 + 5);
  CHECK(reached_byte(kTwo32 + 5, false) == 5);
  CHECK(reached_byte(kTwo32 - 1, false) == kTwo32 - 1);
  const CachePlace last = cache_place((std::int64_t{1} << 31) - 1, 16);
  CHECK(k_cache_byte(last, 127) == (std::int64_t{1} << 39) - std::int64_t{8} * 2048 - 1);
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
