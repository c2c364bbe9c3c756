// The race detector's clocks against a plain array of times, and what of them is shared.
#include "runtime/emulator/checks/vector_clock.h"

#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace monojit::emulator::test {
namespace {

constexpr u32 kXcds = 5;
constexpr u32 kGroups = 6;
constexpr u32 kWaves = VectorClock::kMostWaves;

std::vector<ClockPlace> all_places() {
  std::vector<ClockPlace> places;
  for (u32 xcd = 0; xcd < kXcds; ++xcd) {
    for (u32 group = 0; group < kGroups; ++group) {
      for (u32 wave = 0; wave < kWaves; ++wave) places.push_back({.xcd = xcd, .group = group, .wave = wave});
    }
  }
  return places;
}

/// What a clock means: a time for each place.
struct PlainClock {
  std::vector<u32> times = std::vector<u32>(kXcds * kGroups * kWaves);

  static std::size_t index(const ClockPlace& place) {
    return (std::size_t{place.xcd} * kGroups + place.group) * kWaves + place.wave;
  }
  void raise(const ClockPlace& place, u32 time) { times[index(place)] = std::max(times[index(place)], time); }
  void join(const PlainClock& other) {
    for (const ClockPlace& place : all_places()) raise(place, other.times[index(place)]);
  }
  void join_xcd(const PlainClock& other, u32 xcd) {
    for (const ClockPlace& place : all_places()) {
      if (place.xcd == xcd) raise(place, other.times[index(place)]);
    }
  }
};

void check_equal(const VectorClock& clock, const PlainClock& plain) {
  for (const ClockPlace& place : all_places()) {
    CAPTURE(place.xcd, place.group, place.wave);
    REQUIRE(clock.of(place) == plain.times[PlainClock::index(place)]);
  }
}

TEST_CASE("clocks that copy, raise and join each other in any order hold the times that plain arrays do") {
  constexpr int kClocks = 7;
  constexpr int kSteps = 4000;
  constexpr int kStepsToOneLook = 50;
  std::mt19937 random(20240611);
  const auto below = [&](u32 limit) { return static_cast<u32>(random() % limit); };
  std::vector<VectorClock> clocks(kClocks);
  std::vector<PlainClock> plain(kClocks);
  for (int step = 0; step < kSteps; ++step) {
    const u32 to = below(kClocks), from = below(kClocks), xcd = below(kXcds);
    switch (below(8)) {
      case 0:
        clocks[to] = clocks[from];
        plain[to] = plain[from];
        break;
      case 1:
        clocks[to].join(clocks[from]);
        plain[to].join(plain[from]);
        break;
      case 2:
        clocks[to].join_xcd(clocks[from], xcd);
        plain[to].join_xcd(plain[from], xcd);
        break;
      case 3:
        if (below(16) == 0) clocks[to] = {}, plain[to] = {};
        break;
      default: {
        const ClockPlace place{.xcd = xcd, .group = below(kGroups), .wave = below(kWaves)};
        const u32 time = below(100);
        clocks[to].raise(place, time);
        plain[to].raise(place, time);
      }
    }
    if (step % kStepsToOneLook != 0) continue;
    for (int i = 0; i < kClocks; ++i) check_equal(clocks[i], plain[i]);
  }
}

TEST_CASE("a clock that learns all that another knows becomes the other's, and parts from it when it changes") {
  constexpr ClockPlace kMine{.xcd = 1, .group = 2, .wave = 3};
  constexpr ClockPlace kTheirs{.xcd = 4, .group = 0, .wave = 7};
  VectorClock one, other;
  one.raise(kMine, 5);
  other.raise(kMine, 6);
  other.raise(kTheirs, 9);
  one.join(other);
  CHECK(one.is(other));
  other.join(one);
  CHECK(one.is(other));
  one.raise(kTheirs, 9);
  CHECK(one.is(other));
  one.raise(kTheirs, 10);
  CHECK_FALSE(one.is(other));
  CHECK(other.of(kTheirs) == 9);
  CHECK(one.of(kMine) == 6);
}

TEST_CASE("clocks that were joined lately are known again, and not once they have changed") {
  constexpr ClockPlace kPlace{.xcd = 3, .group = 1, .wave = 2};
  ScopedClocks clocks;
  clocks.near.raise(kPlace, 1);
  JoinedClocks joined;
  CHECK(joined.note(clocks));
  CHECK_FALSE(joined.note(clocks));
  const ScopedClocks copy = clocks;
  CHECK_FALSE(joined.note(copy));
  clocks.near.raise(kPlace, 2);
  CHECK(joined.note(clocks));
  CHECK_FALSE(joined.note(clocks));
  clocks.device.raise(kPlace, 1);
  CHECK(joined.note(clocks));
}

TEST_CASE("an object that only one clock has changes its number when it changes in place") {
  VectorClock clock;
  clock.raise({.xcd = 1}, 1);
  const u64 before = clock.serial();
  clock.raise({.xcd = 1}, 1);
  CHECK(clock.serial() == before);
  clock.raise({.xcd = 1}, 2);
  CHECK(clock.serial() != before);
}

TEST_CASE("a clock that knows more than another stays as it is") {
  constexpr ClockPlace kPlace{.xcd = 0, .group = 1, .wave = 0};
  VectorClock one, other;
  other.raise(kPlace, 3);
  one.join(other);
  one.raise({.xcd = 2}, 1);
  const VectorClock before = one;
  one.join(other);
  CHECK(one.is(before));
  one.join_xcd(other, kPlace.xcd);
  CHECK(one.is(before));
}

}  // namespace
}  // namespace monojit::emulator::test
