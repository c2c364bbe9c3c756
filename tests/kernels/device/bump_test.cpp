#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/launch.h"

namespace {

using namespace monojit;

constexpr std::uint64_t kSeeds = 12;  // a quarter of which begin at the largest number

}  // namespace

TEST_CASE("Given an epoch, when the bump ran, then the epoch is the next one") {
  const auto key = kernels::BuildKey::parse("common.bump");
  const kernels::Workload& workload = kernels::workload(key.family());
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto before = workload.generate(key, tests::device().arch(), seed);
    const auto after = tests::launched(key, before);
    const auto outputs = workload.compare(key, tests::device().arch(), tests::device_traits(), before, after);
    INFO("seed " << seed);
    CHECK(outputs.at(0).ok);
  }
}
