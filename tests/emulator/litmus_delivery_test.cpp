// Loads find their data in any order and deliver them in the order of issue: compilers wait for neither of two loads to
// the same registers before they issue the second.
#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/litmus.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint32_t kSeeds = 400;
constexpr std::uint32_t kFirst = 5, kSecond = 9;

/// How often r0 was `value` at the end.
std::uint32_t times(const std::string& wave, bool untouched, std::uint32_t value) {
  const Litmus litmus{.waves = {wave}, .untouched = untouched, .initial = {kFirst, kSecond, 0}};
  return count(outcomes(litmus, kSeeds), [=](const Outcome& outcome) { return outcome[0] == value; });
}

TEST_CASE("of two loads to one register the second stays, whichever finds its data first") {
  for (const bool untouched : {false, true}) {
    INFO((untouched ? "untouched" : "small") << " memory");
    CHECK(times(load(0, 'x') + load(0, 'y') + kWait, untouched, kSecond) == kSeeds);
    CHECK(times(load(0, 'x') + load(1, 'y') + load(0, 'y') + kWait, untouched, kSecond) == kSeeds);
  }
}

TEST_CASE("a load that memory's mode lets go at once does not overtake one that is on its way") {
  const std::string from_results = "  global_load_dword v20, v1, s[6:7]\n";
  CHECK(times(from_results + load(0, 'x') + kWait, true, kFirst) == kSeeds);
}

TEST_CASE("of two loads to one word of LDS the second stays") {
  const std::string read = "  ds_read_b32 v20, v1\n  s_waitcnt lgkmcnt(0)\n";
  for (const bool untouched : {false, true}) {
    INFO((untouched ? "untouched" : "small") << " memory");
    CHECK(times(load_to_lds('x') + load_to_lds('y') + kWait + read, untouched, kSecond) == kSeeds);
  }
}

TEST_CASE("the old value that an atomic operation returns stays behind a load to its register") {
  const std::string fetch_add = "  v_mov_b32 v30, 1\n  global_atomic_add v20, v1, v30, s[4:5] offset:512 sc0\n";
  CHECK(times(load(0, 'x') + fetch_add + kWait, false, kSecond) == kSeeds);
  CHECK(times(fetch_add + load(0, 'x') + kWait, false, kFirst) == kSeeds);
}

TEST_CASE("two loads to registers of their own find their data in either order") {
  const ScopeCode& scope = agent_scope();
  const Litmus litmus{.waves = {store('x', 1, scope.bits) + kWait + store('y', 1, scope.bits),
                                load(0, 'y', scope.bits) + load(1, 'x', scope.bits) + kWait}};
  CHECK(count(outcomes(litmus, 5 * kSeeds), [](const Outcome& outcome) { return outcome[4] == 1 && outcome[5] == 0; }) >
        0);
}

}  // namespace
}  // namespace monojit::emulator::test
