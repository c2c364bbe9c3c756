#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "runtime/hip/emulator_extras.h"
#include "tests/kernels/device/k1_launch.h"

// K1's hand-offs on the emulator's weak memory: stores late and in another order, caches that keep old lines.
namespace {

using namespace monojit;

constexpr int kSeeds = 8;
constexpr int kLaunches = 3;  // each with another amount of freedom

/// Weak memory until the end of the test.
class WeakMemory {
 public:
  explicit WeakMemory(int seed) {
    runtime::set_emulator_option(tests::device().hip(), "seed", std::to_string(seed));
    runtime::set_emulator_option(tests::device().hip(), "memory", "weak");
  }
  ~WeakMemory() {
    runtime::set_emulator_option(tests::device().hip(), "memory", "coherent");
    runtime::set_emulator_option(tests::device().hip(), "seed", "0");
  }
  WeakMemory(const WeakMemory&) = delete;
  WeakMemory& operator=(const WeakMemory&) = delete;
};

}  // namespace

TEST_CASE("Given weak memory, when K1 ran launch after launch on one scratch, then every output agrees", "[k1]") {
  if (!tests::device().emulated()) SKIP("a chip's memory is as weak as it is");
  const kernels::minimax_m3::K1Key key =
      GENERATE(kernels::minimax_m3::K1Key{.tokens = 1}, kernels::minimax_m3::K1Key{.tokens = 2, .signal = true},
               kernels::minimax_m3::K1Key{.tokens = 4, .index_heads = 4, .index_own = 3, .signal = true});
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const WeakMemory weak(seed);
    kernels::minimax_m3::K1Case a_case = tests::device_case(key, static_cast<std::uint64_t>(seed));
    for (int i = 0; i < kLaunches; ++i) {
      a_case.set_launch(seed, i);
      const auto after = tests::launched(a_case);
      INFO("tokens " << key.tokens << " seed " << seed << " launch " << i);
      CHECK(tests::disagreement(a_case, after) == "");
      for (const auto* name : {"scratch", "iscore"}) {
        kernels::reference::named(a_case.tensors, name) = kernels::reference::named(after, name);
      }
    }
  }
}
