#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/generate.h"
#include "tests/kernels/device/k2_group.h"

// K2's code object on eight emulated devices against the reference of the group, at model size.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;
using tests::DeviceGroup;
using tests::disagreement;

std::string first_disagreement(const K2Key& key, std::uint64_t seed) {
  const DeviceGroup group(key);
  generate_group(key, seed, group.memory(), ExpertFill::kPicked);
  const GroupExpectation expected(key, group.memory());
  group.launch(key);
  return disagreement(expected, group.memory());
}

}  // namespace

TEST_CASE("Given data for a seed, when all ranks ran K2, then every output, hand-off and flag agrees", "[k2][model]") {
  for (const K2Key& key : {K2Key{.tokens = 1, .nblocks = 1}, K2Key{.tokens = 3, .nblocks = 4, .reset = true},
                           K2Key{.tokens = 8, .nblocks = 8}}) {
    INFO("tokens " << key.tokens << " blocks " << key.nblocks << " reset " << key.reset);
    CHECK(first_disagreement(key, 1) == "");
  }
}
