// Random programs of fixed seeds; monojit_soak_programs runs as many others as one likes.
#include <array>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/emulator/programs/random_run.h"

namespace monojit::emulator::test {
namespace {

TEST_CASE("random programs compute on the device what they mean") {
  const Variant variant = GENERATE(from_range(variants()));
  constexpr u64 kPrograms = 4;
  std::array<u64, kPrograms> seeds{};
  std::iota(seeds.begin(), seeds.end(), u64{1});
  CHECK(run_random_programs(seeds, variant) == "");
}

}  // namespace
}  // namespace monojit::emulator::test
