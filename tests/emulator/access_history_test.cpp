// What the race detector remembers of memory: each word's history, however wide the accesses were that made it.
#include "runtime/emulator/checks/access_history.h"

#include <array>
#include <map>
#include <random>

#include <catch2/catch_test_macros.hpp>

namespace monojit::emulator::test {
namespace {

constexpr u64 kWord = 4;
constexpr u64 kQuad = 16;

TEST_CASE("every word keeps the access that reached it last, whatever the accesses' widths and places") {
  constexpr u64 kBegin = 0x7f0000000fc0;  // two pages of the history
  constexpr u64 kBytes = 128;
  constexpr int kRounds = 200;
  constexpr u32 kAccesses = 25;
  constexpr std::array<u64, 8> kWidths{1, 2, 4, 8, 12, kQuad, kQuad, kQuad};
  std::mt19937 random(7);
  for (int round = 0; round < kRounds; ++round) {
    AccessHistory history;
    std::map<u64, u32> last;  // time by address of the word
    for (u32 time = 1; time <= kAccesses; ++time) {
      const u64 bytes = kWidths[random() % kWidths.size()];
      const u64 unit = random() % 4 == 0 ? 1 : kQuad;
      const u64 begin = kBegin + random() % (kBytes - bytes) / unit * unit;
      history.visit(begin, bytes, [&](WordHistory& word, u64, u8) { word.write.time = time; });
      for (u64 at = begin / kWord * kWord; at < begin + bytes; at += kWord) last[at] = time;
    }
    for (u64 at = kBegin; at < kBegin + kBytes; at += kWord) {
      CAPTURE(round, at - kBegin);
      history.visit(at, kWord, [&](const WordHistory& word, u64, u8) {
        REQUIRE(word.write.time == (last.contains(at) ? last[at] : 0));
      });
    }
  }
}

TEST_CASE("an access tells of each word where it begins in it and which of its bytes it takes") {
  AccessHistory history;
  std::map<u64, u8> masks;
  history.visit(0x1007, 10, [&](const WordHistory&, u64 first, u8 mask) { masks[first] = mask; });
  CHECK(masks == std::map<u64, u8>{{0x1007, 0b1000}, {0x1008, 0b1111}, {0x100c, 0b1111}, {0x1010, 0b0001}});
}

TEST_CASE("accesses of whole quads are visited once each, until one takes less") {
  AccessHistory history;
  const auto visits = [&](u64 begin, u64 bytes) {
    int count = 0;
    history.visit(begin, bytes, [&](const WordHistory&, u64, u8) { ++count; });
    return count;
  };
  CHECK(visits(0x2000, kQuad) == 1);
  CHECK(visits(0x2010, kQuad) == 1);
  CHECK(visits(0x2008, kWord) == 1);
  CHECK(visits(0x2000, kQuad) == 4);
  CHECK(visits(0x2010, kQuad) == 1);
}

}  // namespace
}  // namespace monojit::emulator::test
