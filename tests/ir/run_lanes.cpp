#include <bit>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "tests/ir/lane_program.h"

// Exchanges between lanes, run on the emulator.

namespace monojit::ir::test {
namespace {

constexpr int kDistances[] = {1, 2, 4, 8, 16, 32};
constexpr std::size_t kWave = 64;

TEST_CASE("lane_xor reads the lane at each distance") {
  for (const Target& target : targets()) {
    for (const int distance : kDistances) {
      INFO(target.arch << " " << distance);
      const auto given = run_lanes(target, sequence(1000), [&](const Int32& x) { return lane_xor(x, distance); });
      for (std::size_t lane = 0; lane < kWave; ++lane) {
        CHECK(given[lane] == 1000 + (lane ^ static_cast<std::size_t>(distance)));
      }
    }
  }
}

/// f32 of 1..256 with full significands: their sums differ with their order.
std::vector<std::uint32_t> uneven() {
  std::vector<std::uint32_t> words;
  for (std::uint32_t lane = 0; lane < kWave; ++lane) {
    const std::uint32_t random = (lane + 1) * 2654435761U;
    words.push_back((127 + random % 8) << 23 | random >> 9);
  }
  return words;
}

std::vector<std::uint32_t> reduced(std::vector<std::uint32_t> words, std::size_t first,
                                   float (*operation)(float, float)) {
  for (std::size_t distance = first; distance >= 1; distance /= 2) {
    std::vector<std::uint32_t> next(words.size());
    for (std::size_t lane = 0; lane < words.size(); ++lane) {
      next[lane] = std::bit_cast<std::uint32_t>(
          operation(std::bit_cast<float>(words[lane]), std::bit_cast<float>(words[lane ^ distance])));
    }
    words = next;
  }
  return words;
}

Int32 as_word(const Float32& x) { return bitcast<Int32>(x); }

TEST_CASE("Sums over a wave and its halves have the order of the specification, bit for bit") {
  const auto add = [](float a, float b) { return a + b; };
  const auto words = uneven();
  float ascending = 0;
  for (const std::uint32_t word : words) ascending += std::bit_cast<float>(word);
  REQUIRE(reduced(words, 32, add)[0] != std::bit_cast<std::uint32_t>(ascending));
  for (const Target& target : targets()) {
    INFO(target.arch);
    CHECK(run_lanes(target, words, [](const Int32& x) { return as_word(wave_sum(bitcast<Float32>(x))); }) ==
          reduced(words, 32, add));
    CHECK(run_lanes(target, words, [](const Int32& x) { return as_word(half_wave_sum(bitcast<Float32>(x))); }) ==
          reduced(words, 16, add));
    CHECK(run_lanes(target, words, [](const Int32& x) { return as_word(half_wave_max(bitcast<Float32>(x))); }) ==
          reduced(words, 16, [](float a, float b) { return std::fmax(a, b); }));
  }
}

TEST_CASE("Two half-wave sums in one have the bits of two") {
  const auto words = uneven();
  const auto negated = [&] {
    auto other = words;
    for (std::size_t lane = 0; lane < kWave; ++lane) other[lane] = words[(lane + 1) % kWave] ^ 0x80000000U;
    return other;
  }();
  const auto add = [](float a, float b) { return a + b; };
  const auto first = reduced(words, 16, add), second = reduced(negated, 16, add);
  for (const Target& target : targets()) {
    INFO(target.arch);
    const auto given = run_lanes(target, words, [](const Int32& x) {
      const Int32 next = shuffle(x, (lane_id() + 1) % static_cast<int>(kWave)) ^ static_cast<int>(0x80000000U);
      return as_word(half_wave_sums(bitcast<Float32>(x), bitcast<Float32>(next)));
    });
    for (std::size_t lane = 0; lane < kWave; ++lane) CHECK(given[lane] == (lane / 16 % 2 == 0 ? first : second)[lane]);
  }
}

TEST_CASE("One NaN makes the maximum of its half wave NaN and leaves the other half alone") {
  auto words = uneven();
  words[37] = 0x7FC00000;
  for (const Target& target : targets()) {
    const auto given =
        run_lanes(target, words, [](const Int32& x) { return as_word(half_wave_max(bitcast<Float32>(x))); });
    for (std::size_t lane = 0; lane < kWave; ++lane) {
      CHECK(std::isnan(std::bit_cast<float>(given[lane])) == (lane >= 32));
    }
  }
}

TEST_CASE("DPP keeps `old` where a lane is masked off or would read outside of its row") {
  for (const Target& target : targets()) {
    const auto given = run_lanes(target, sequence(), [](const Int32& x) {
      return dpp(DppControl::row_shr(3), Int32(777), x, {.rows = 0xF, .banks = 0x7});
    });
    for (std::uint32_t lane = 0; lane < kWave; ++lane) {
      const bool written = lane % 16 >= 3 && lane % 16 < 12;
      CHECK(given[lane] == (written ? lane - 3 : 777));
    }
  }
}

TEST_CASE("Lanes read any lane, one lane, or the first active one") {
  for (const Target& target : targets()) {
    const auto given = run_lanes(target, Words{sequence(500)}, [](const std::vector<Int32>& in) {
      Var<Int32> first(0);
      If(lane_id() >= 9, [&] { first = uniform(in[0]); });
      return std::vector<Int32>{shuffle(in[0], lane_id() * 5 + 2), Int32(readlane(in[0], 17)), first.value(),
                                writelane(in[0], Uniform<Int32>(1), 3), ds_permute((lane_id() ^ 6) * 4, in[0])};
    });
    for (std::uint32_t lane = 0; lane < kWave; ++lane) {
      CHECK(given[0][lane] == 500 + (lane * 5 + 2) % 64);
      CHECK(given[1][lane] == 517);
      CHECK(given[2][lane] == (lane >= 9 ? 509 : 0));
      CHECK(given[3][lane] == (lane == 3 ? 1 : 500 + lane));
      CHECK(given[4][lane] == 500 + (lane ^ 6));
    }
  }
}

TEST_CASE("Votes see every active lane") {
  for (const Target& target : targets()) {
    const auto given = run_lanes(target, Words{sequence()}, [](const std::vector<Int32>& in) {
      const Uniform<Int64> mask = ballot(in[0] % 3 == 0);
      return std::vector<Int32>{truncate<Int32>(mask),
                                truncate<Int32>(shr_logical(mask, 32)),
                                mbcnt(mask),
                                convert<Int32>(any(in[0] == 63)),
                                convert<Int32>(all(in[0] < 63)),
                                Int32(bit_count(mask))};
    });
    std::uint64_t mask = 0;
    for (std::uint32_t lane = 0; lane < kWave; ++lane) mask |= std::uint64_t{lane % 3 == 0} << lane;
    for (std::uint32_t lane = 0; lane < kWave; ++lane) {
      CHECK(given[0][lane] == static_cast<std::uint32_t>(mask));
      CHECK(given[1][lane] == static_cast<std::uint32_t>(mask >> 32));
      CHECK(given[2][lane] == static_cast<std::uint32_t>(std::popcount(mask & ((std::uint64_t{1} << lane) - 1))));
      CHECK(given[3][lane] == 1);
      CHECK(given[4][lane] == 0);
      CHECK(given[5][lane] == 22);
    }
  }
}

TEST_CASE("Permlane swaps trade the rows that they say") {
  const auto given = run_lanes(kTargetGfx950, Words{sequence(), sequence(100)}, [](const std::vector<Int32>& in) {
    const Swapped<Int32> rows = permlane16_swap(in[0], in[1]);
    const Swapped<Int32> halves = permlane32_swap(in[0], in[1]);
    return std::vector<Int32>{rows.first, rows.second, halves.first, halves.second};
  });
  for (std::uint32_t lane = 0; lane < kWave; ++lane) {
    const bool odd_row = (lane & 16) != 0;
    CHECK(given[0][lane] == (odd_row ? 100 + lane - 16 : lane));
    CHECK(given[1][lane] == (odd_row ? 100 + lane : lane + 16));
    CHECK(given[2][lane] == (lane >= 32 ? 100 + lane - 32 : lane));
    CHECK(given[3][lane] == (lane >= 32 ? 100 + lane : lane + 32));
  }
}

}  // namespace
}  // namespace monojit::ir::test
