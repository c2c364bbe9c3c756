#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/activation.h"
#include "kernels/kimi_k3/k2/reference/k2_case.h"
#include "kernels/kimi_k3/k2/roles.h"

/// One value at a time on its way through the layer: weights that hold a single element each, so that every stage's
/// result can be told by hand.
namespace monojit::kernels::kimi_k3 {
namespace {

using reference::bf16_bits;
using reference::bf16_value;
using reference::round_bf16;

constexpr K2Key kKey{.tokens = 1, .nblocks = 1, .reset = true};

/// x[column] = 2 and all else 0: the first half of the layer done by one element. With reset the prefix is the only
/// non-zero source, half of the mix; x is the mix over its own root mean square, sqrt(7168) for a single element, times
/// a norm weight that brings it to 2.
K2Case with_x(std::int64_t column) {
  K2Case a_case(kKey);
  a_case.set(0, "core", 3, 4);
  a_case.set(0, "w_o", column * kCoreWidth + 3, 4096);
  a_case.fill("in_nw", 0);
  a_case.set_all("in_nw", column, 2 / std::sqrt(static_cast<float>(kHidden)));
  return a_case;
}

TEST_CASE("an element of core goes through the output projection of its rank into prefix and x of all") {
  const K2Case a_case = with_x(777);
  const GroupResult result = a_case.run();
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankResult& one = result[static_cast<std::size_t>(rank)];
    CHECK(one.prefix[777] == bf16_bits(16384));
    CHECK(std::ranges::count(one.prefix, 0) == kHidden - 1);
    const Mail peer = a_case.peer_of(result, rank);
    const Region ar = a_case.peer_regions().ar;
    CHECK(peer.bf16_element(ar, ar.at(0, 0, 0), 777) == 16384);
    CHECK(peer.bf16_element(ar, ar.at(1, 0, 0), 777) == 0);
    const auto x = a_case.scratch_of(result, rank).row(a_case.scratch_regions().xrow);
    CHECK(std::fabs(bf16_value(x[777]) - 2) < 0.02F);
    CHECK(std::ranges::count(x, 0) == kHidden - 1);
  }
}

TEST_CASE("router logits come from the rank of their expert, each of the four K parts counts") {
  for (const std::int64_t column : {5, 1800, 3700, 7000}) {
    K2Case a_case = with_x(column);
    const std::int64_t expert = 3 * kRankExperts + 17;
    a_case.set_all("w_gate", expert * kHidden + column, 3);
    const GroupResult result = a_case.run();
    const Region rlog = a_case.peer_regions().rlog;
    const Region route = a_case.scratch_regions().route;
    const float x =
        bf16_value(a_case.scratch_of(result, 0).row(a_case.scratch_regions().xrow)[static_cast<std::size_t>(column)]);
    for (int rank = 0; rank < kRanks; ++rank) {
      CHECK(a_case.peer_of(result, rank).float_value(rlog, rlog.at(3, 0, 17)) == 3 * x);
      CHECK(a_case.scratch_of(result, rank).value(route, route.at(0, 0)) == static_cast<std::uint32_t>(expert));
      CHECK(a_case.scratch_of(result, rank).value(route, route.at(0, 1)) == 0);
    }
  }
}

TEST_CASE("the shared expert's columns land in the own part of one rank and in FINAL of the others") {
  K2Case a_case = with_x(100);
  a_case.set(2, "w_sgu", 40 * kHidden + 100, 1);                          // gate row 40
  a_case.set(2, "w_sgu", (kSharedIntermediate + 40) * kHidden + 100, 2);  // up row 40
  a_case.set(2, "w_sd", std::int64_t{2 * kRankColumns + 5} * kSharedIntermediate + 40, 1);
  a_case.set(2, "w_sd", std::int64_t{6000} * kSharedIntermediate + 40, -1);
  const GroupResult result = a_case.run();
  const ScratchLayout regions = a_case.scratch_regions();
  const Mail scratch = a_case.scratch_of(result, 2);
  const float x = bf16_value(scratch.row(regions.xrow)[100]);
  const float h = round_bf16(shared_activation(x, 2 * x));
  CHECK(h > 5);
  CHECK(scratch.bf16_element(regions.h, regions.h.at(0, 0), 40) == h);
  CHECK(bf16_value(scratch.row(regions.shp)[5]) == h);
  const Region final_region = a_case.peer_regions().final_;
  const Mail peer = a_case.peer_of(result, 7);
  CHECK(peer.bf16_element(final_region, final_region.at(2, 0, 0), 6000) == -h);
  for (const RankResult& one : result) {
    CHECK(one.out[2 * kRankColumns + 5] == bf16_bits(h));
    CHECK(one.out[6000] == bf16_bits(-h));
    CHECK(std::ranges::count(one.out, 0) == kHidden - 2);
  }
}

TEST_CASE("a routed expert's value goes through latent, FP4, both products, norm and up into its column") {
  K2Case a_case = with_x(100);
  constexpr int kLatentIn = 5 * kRankLatent + 9;  // rank 5 makes it
  constexpr int kLatentOut = 1234;
  constexpr int kExpert = 0;  // the first of equal scores
  a_case.set_all("w_ld", std::int64_t{kLatentIn} * kHidden + 100, 2);
  a_case.set_expert(1, kGateUpMatrix, kExpert, 70, kLatentIn, 4, 127);                  // gate: 2
  a_case.set_expert(1, kGateUpMatrix, kExpert, kIntermediate + 70, kLatentIn, 2, 130);  // up: 8
  a_case.set_expert(1, kDownMatrix, kExpert, kLatentOut, 70, 6, 127);                   // 4
  a_case.set(3, "w_up", std::int64_t{50} * kLatent + kLatentOut, 1);
  const GroupResult result = a_case.run();

  const PeerLayout peers = a_case.peer_regions();
  const ScratchLayout regions = a_case.scratch_regions();
  const float latent = a_case.peer_of(result, 1).bf16_element(peers.lat, peers.lat.at(0, 0), kLatentIn);
  CHECK(std::fabs(latent - 4) < 0.05F);
  CHECK(a_case.peer_of(result, 0).bf16_element(peers.lat, peers.lat.at(0, 0), kLatentIn) == latent);
  // 4 or a little less is 4 in FP4 under the scale of 1.
  const float v = expert_activation(2 * 4, 8 * 4);
  const Mail scratch = a_case.scratch_of(result, 1);
  CHECK((scratch.value(regions.inter, regions.inter.at(0, 70 / 8)) >> (4 * (70 % 8))) % 16 == 7);
  const std::uint32_t code = scratch.value(regions.isc, regions.isc.at(0, 70 / 32));
  CHECK(std::ldexp(6.0F, static_cast<int>(code) - 127) >= v);
  const float stored = std::ldexp(6.0F, static_cast<int>(code) - 127);
  const float weighted = round_bf16(4 * stored * 0.0625F);
  CHECK(a_case.peer_of(result, 4).bf16_element(peers.latr, peers.latr.at(1, 0, 0), kLatentOut) == weighted);
  // One element alone: its norm is sqrt(3584), whatever it was.
  const float ln = bf16_value(a_case.scratch_of(result, 6).row(regions.ln)[kLatentOut]);
  CHECK(std::fabs(ln / std::sqrt(static_cast<float>(kLatent)) - 1) < 0.01F);
  for (const RankResult& one : result) {
    CHECK(bf16_value(one.out[3 * kRankColumns + 50]) == ln);
    CHECK(std::ranges::count(one.out, 0) == kHidden - 1);
  }
}

TEST_CASE("zero rows stay zeros all the way, without NaNs") {
  const K2Case a_case({.tokens = 2, .nblocks = 2});
  const GroupResult result = a_case.run();
  const ScratchLayout regions = a_case.scratch_regions();
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankResult& one = result[static_cast<std::size_t>(rank)];
    CHECK(std::ranges::count(one.out, 0) == 2 * kHidden);
    CHECK(std::ranges::count(one.prefix, 0) == 2 * kHidden);
    const Mail scratch = a_case.scratch_of(result, rank);
    for (int word = 0; word < regions.inter.count(); ++word)
      REQUIRE((scratch.value(regions.inter, word) & 0x77777777U) == 0);
    CHECK(scratch.float_value(regions.route, regions.route.at(1, kTopExperts)) == 0.0625F);
  }
}

TEST_CASE("every pair of the layout carries the launch's tag, and nothing else is touched") {
  K2Case a_case({.tokens = 2, .nblocks = 2});
  a_case.set_launch(9, back_slot(13));  // odd: the second half
  for (int rank = 0; rank < kRanks; ++rank) {
    std::ranges::fill(a_case.rank(rank).view("scratch").bytes, std::byte{0xEE});
    std::ranges::fill(a_case.rank(rank).view("peer").bytes, std::byte{0xEE});
  }
  const GroupResult result = a_case.run();
  const auto tag = static_cast<std::uint32_t>(launch_tag(9, back_slot(13)));
  const ScratchLayout s = a_case.scratch_regions();
  const PeerLayout p = a_case.peer_regions();
  CHECK(half_offset(a_case.rank(0)) == kPeerHead + kPeerHalf);
  for (int rank = 0; rank < kRanks; ++rank) {
    const RankResult& one = result[static_cast<std::size_t>(rank)];
    const Mail scratch = a_case.scratch_of(result, rank);
    for (const Region* region :
         {&s.part, &s.wgt, &s.msq, &s.xrdy, &s.sgu, &s.h, &s.route, &s.inter, &s.isc, &s.lmsq, &s.lnrdy, &s.shrdy}) {
      for (std::int64_t i = 0; i < region->count(); ++i) REQUIRE(scratch.tag(*region, i) == tag);
    }
    CHECK(scratch.tag(s.rpart, s.rpart.at(0, 0, 0, 0)) == 0xEEEEEEEEU);  // part 0 stays with its maker
    CHECK(scratch.tag(s.rpart, s.rpart.at(6, 3, 1, 15)) == tag);
    CHECK(scratch.tag(s.lpart, s.lpart.at(0, 0, 0, 0)) == 0xEEEEEEEEU);
    const auto untouched = [](std::span<const std::byte> bytes) {
      return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0xEE}; });
    };
    CHECK(untouched(std::span(one.scratch).subspan(static_cast<std::size_t>(s.bytes()))));
    const Mail peer = a_case.peer_of(result, rank);
    for (const Region* region : {&p.ar, &p.rlog, &p.lat, &p.latr, &p.final_}) {
      for (std::int64_t i = 0; i < region->count(); ++i) REQUIRE(peer.tag(*region, i) == tag);
    }
    CHECK(untouched(std::span(one.peer).first(kPeerHead + kPeerHalf)));
    CHECK(untouched(std::span(one.peer).subspan(static_cast<std::size_t>(kPeerHead + kPeerHalf + p.bytes()))));
  }
}

TEST_CASE("without reduce the output stays as it was and FINAL is there") {
  K2Case a_case({.tokens = 1, .nblocks = 1, .reduce = false});
  a_case.fill("out", 3);
  const GroupResult result = a_case.run();
  CHECK(std::ranges::count(result[4].out, bf16_bits(3)) == kHidden);
  const Region region = a_case.peer_regions().final_;
  CHECK(a_case.peer_of(result, 4).tag(region, region.count() - 1) ==
        static_cast<std::uint32_t>(tag_of(a_case.rank(4))));
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
