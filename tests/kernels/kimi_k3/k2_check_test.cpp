#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "kernels/kimi_k3/k2/reference/check.h"
#include "kernels/kimi_k3/k2/reference/generate.h"
#include "kernels/kimi_k3/k2/reference/k2_case.h"

namespace monojit::kernels::kimi_k3 {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr K2Key kKey{.tokens = 1, .nblocks = 3};

void check(const K2Case& a_case) { check_group(a_case.key, a_case.group.memory()); }

TEST_CASE("generated tensors are fit for a launch, whatever the seed") {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    const HostGroup group(kKey);
    for (int rank = 0; rank < kRanks; ++rank) {
      const RankMemory& memory = group.memory()[static_cast<std::size_t>(rank)];
      for (const TensorView& tensor : memory.views()) {
        if (tensor.bytes.size() < (1U << 24)) generate_tensor(kKey, seed, rank, tensor);
      }
    }
    check_group(kKey, group.memory());
  }
}

TEST_CASE("tensors of a wrong shape or type are refused together, by rank and name") {
  K2Case a_case(kKey);
  a_case.group.memory()[2].view("core").shape = {2, kCoreWidth};
  a_case.group.memory()[5].view("w_o").dtype = DType::kFloat32;
  CHECK_THROWS_MATCHES(check(a_case), UserError,
                       MessageMatches(ContainsSubstring("rank 2: core has shape [2][1536], must have [1][1536]") &&
                                      ContainsSubstring("rank 5: w_o is f32, must be bf16")));
}

TEST_CASE("strides that vectors or the blocks' memory don't take are refused") {
  K2Case a_case(kKey);
  a_case.rank(3).of<std::int32_t>("blk_sm")[0] = 7170;
  CHECK_THROWS_MATCHES(check(a_case), UserError,
                       MessageMatches(ContainsSubstring("rank 3: blk_sm is 7170, must be a multiple of 4")));
  a_case.rank(3).of<std::int32_t>("blk_sm")[0] = 7168;
  a_case.rank(3).of<std::int32_t>("blk_sr")[0] = 40000;
  CHECK_THROWS_MATCHES(
      check(a_case), UserError,
      MessageMatches(ContainsSubstring("rank 3: blocks has 57344 elements, but the strides reach 87168")));
}

TEST_CASE("ranks that would wait for each other in vain are refused") {
  K2Case a_case(kKey);
  a_case.rank(6).of<std::int32_t>("epoch")[0] += 1;
  a_case.rank(7).of<std::int32_t>("rank")[0] = 0;
  CHECK_THROWS_MATCHES(check(a_case), UserError,
                       MessageMatches(ContainsSubstring("rank 6: epoch is") && ContainsSubstring("rank 7: rank is 0")));
  K2Case other(kKey);
  other.set_launch(1, 5);
  CHECK_THROWS_MATCHES(check(other), UserError,
                       MessageMatches(ContainsSubstring("kimi_k3.k2: ranks 0..7: layer is 5, must be in 129..220")));
}

TEST_CASE("memory that already carries the launch's tag is refused") {
  K2Case a_case(kKey);
  const Mail mail(a_case.rank(4).view("scratch").bytes, tag_of(a_case.rank(4)));
  mail.put(a_case.scratch_regions().h, 3, 1U);
  CHECK_THROWS_MATCHES(check(a_case), UserError, MessageMatches(ContainsSubstring("rank 4: scratch has 1 pairs")));
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
