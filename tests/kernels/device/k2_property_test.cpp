#include <algorithm>
#include <bit>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/mail.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "tests/kernels/device/k2_group.h"

// Exact properties whose results are known without the reference.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;
using kernels::reference::bf16_bits;
using kernels::reference::BFloat16Bits;

constexpr K2Key kKey{.tokens = 1, .nblocks = 1, .reset = true};

void begin(const tests::DeviceGroup& group) {
  for (const RankMemory& rank : group.memory()) {
    for (const auto* name : {"ares_nw", "in_nw", "ln_w"}) {
      std::ranges::fill(rank.of<BFloat16Bits>(name), bf16_bits(1));
    }
  }
  group.set_launch(1, back_slot(kFirstLayer));
}

}  // namespace

TEST_CASE("Given partials that cancel, when K2 ran, then the ranks were added up in their order", "[k2]") {
  const tests::DeviceGroup group(kKey);
  begin(group);
  constexpr float kCancelAtEnd[kRanks] = {0x1p24F, 1, 1, 1, 1, 1, 1, -0x1p24F};
  constexpr float kCancelAtOnce[kRanks] = {1, 1, 1, 1, 1, 1, 0x1p24F, -0x1p24F};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    group.memory()[rank].of<BFloat16Bits>("core")[0] = bf16_bits(1);
    const auto weights = group.memory()[rank].of<BFloat16Bits>("w_o");
    weights[std::size_t{10} * kCoreWidth] = bf16_bits(kCancelAtEnd[rank]);
    weights[std::size_t{11} * kCoreWidth] = bf16_bits(kCancelAtOnce[rank]);
  }
  group.launch(kKey);
  for (const RankMemory& rank : group.memory()) {
    CHECK(rank.of<BFloat16Bits>("prefix")[10] == bf16_bits(0));
    CHECK(rank.of<BFloat16Bits>("prefix")[11] == bf16_bits(6));
  }
}

TEST_CASE("Given zeros, when K2 ran, then experts 0 to 15 have a sixteenth each and the output is zero", "[k2]") {
  const tests::DeviceGroup group(kKey);
  begin(group);
  group.launch(kKey);
  const kernels::Region ids = scratch_layout(kKey.tokens, kKey.nblocks).route;
  for (const RankMemory& rank : group.memory()) {
    const Mail mail{rank.of<std::byte>("scratch"), tag_of(rank)};
    for (int pick = 0; pick < kTopExperts; ++pick) {
      CHECK(mail.value(ids, ids.at(0, pick)) == static_cast<std::uint32_t>(pick));
      CHECK(mail.value(ids, ids.at(0, kTopExperts + pick)) == std::bit_cast<std::uint32_t>(0.0625F));
    }
    CHECK(std::ranges::all_of(rank.of<BFloat16Bits>("out"), [](BFloat16Bits bits) { return (bits & 0x7FFF) == 0; }));
  }
}
