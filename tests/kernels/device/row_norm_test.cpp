#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/device/launch.h"

namespace {

using namespace monojit;

constexpr std::uint64_t kSeeds[] = {1, 2, 3};
const std::string kKeys[] = {
    "example.row_norm{rows=1,hidden=512}",
    "example.row_norm{rows=5,hidden=2048}",  // the last workgroup has waves without a row
    "example.row_norm{rows=8,hidden=1024,eps=0.5}",
};

}  // namespace

TEST_CASE("Given a key and seeded rows, when the row norm ran, then every row agrees with both references") {
  for (const std::string& text : kKeys) {
    const auto key = kernels::BuildKey::parse(text);
    const kernels::Workload& workload = kernels::workload(key.family());
    for (const std::uint64_t seed : kSeeds) {
      const auto before = workload.generate(key, tests::device().arch(), seed);
      const auto after = tests::launched(key, before);
      for (const kernels::Comparison& output :
           workload.compare(key, tests::device().arch(), tests::device_traits(), before, after)) {
        INFO(text << " seed " << seed << ": " << output.name << ", " << output.mismatches << " mismatches, error "
                  << output.max_error << " of " << output.bound);
        CHECK(output.ok);
      }
    }
  }
}
