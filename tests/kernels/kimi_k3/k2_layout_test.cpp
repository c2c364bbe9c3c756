#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/roles.h"

namespace monojit::kernels::kimi_k3 {
namespace {

TEST_CASE("the scratch regions lie where the specification has them at 8 rows and 8 blocks") {
  const ScratchLayout s = scratch_layout(8, 8);
  const std::pair<const Region*, std::pair<std::int64_t, std::int64_t>> expected[] = {
      {&s.part, {0, 64512}},      {&s.wgt, {64512, 640}},      {&s.msq, {65152, 3584}},     {&s.xrdy, {68736, 448}},
      {&s.sgu, {69184, 49152}},   {&s.h, {118336, 24576}},     {&s.rpart, {142912, 28672}}, {&s.lpart, {171584, 57344}},
      {&s.route, {228928, 2048}}, {&s.inter, {230976, 49152}}, {&s.isc, {280128, 12288}},   {&s.lmsq, {292416, 1792}},
      {&s.lnrdy, {294208, 224}},  {&s.shrdy, {294432, 448}},   {&s.ln, {294880, 57344}},    {&s.shp, {352224, 14336}},
      {&s.xrow, {366560, 114688}}};
  for (const auto& [region, place] : expected) {
    INFO(region->name);
    CHECK(region->offset == place.first);
    CHECK(region->bytes() == place.second);
  }
  CHECK(scratch_layout(1, 8).bytes() == 61136);
  CHECK(scratch_layout(2, 8).bytes() == 121152);
  CHECK(scratch_layout(4, 8).bytes() == 241184);
  CHECK(scratch_layout(8, 8).bytes() == 481248);
}

TEST_CASE("vector stores of two pairs and of rows find 16-byte boundaries in every build") {
  for (int tokens = 1; tokens <= 8; ++tokens) {
    for (int blocks = 1; blocks <= 8; ++blocks) {
      const ScratchLayout s = scratch_layout(tokens, blocks);
      for (const Region* region : {&s.sgu, &s.ln, &s.shp, &s.xrow}) CHECK(region->offset % 16 == 0);
      CHECK(s.bytes() <= kScratchBytes);
    }
    const PeerLayout p = peer_layout(tokens);
    for (const Region* region : {&p.ar, &p.rlog, &p.lat, &p.latr, &p.final_}) CHECK(region->offset % 16 == 0);
    CHECK(p.bytes() == 594944 * tokens);
  }
}

TEST_CASE("an element's number is the specification's formula") {
  const ScratchLayout s = scratch_layout(3, 4);
  const int ns = 5;
  CHECK(s.part.at(7, 2, 4, 1) == ((7 * 3 + 2) * ns + 4) * 2 + 1);
  CHECK(s.wgt.at(2, ns) == 2 * (ns + 1) + ns);
  CHECK(s.rpart.at(6, 3, 2, 15) == ((6 * 4 + 3) * 3 + 2) * 16 + 15);
  CHECK(s.lpart.at(27, 1, 2, 9) == ((27 * 2 + 1) * 3 + 2) * 16 + 9);
  CHECK(s.route.at(2, 16 + 3) == 2 * 32 + 16 + 3);
  CHECK(s.inter.at(47, 5) == 47 * 48 + 5);
  CHECK(s.isc.at(47, 5) == 47 * 12 + 5);
  const PeerLayout p = peer_layout(3);
  CHECK(p.ar.at(5, 2, 100) == (5 * 3 + 2) * 3584 + 100);
  CHECK(p.rlog.at(5, 2, 100) == (5 * 3 + 2) * 112 + 100);
  CHECK(p.lat.at(2, 100) == 2 * 1792 + 100);
  CHECK(index_formula(s.part) == "((slice*3 + token)*5 + source)*2 + which");
}

TEST_CASE("LDS holds what each build's specification counts") {
  for (int tokens = 1; tokens <= 8; ++tokens) {
    for (int blocks = 1; blocks <= 8; ++blocks) CHECK(lds_layout(tokens, blocks).bytes == 16416 + 14480 * tokens);
  }
}

TEST_CASE("the members of a stage do not overlap in LDS") {
  const LdsLayout l = lds_layout(8, 8);
  const std::vector<std::vector<Region>> stages = {{l.rows},
                                                   {l.vals, l.delta},
                                                   {l.latent_words, l.latent_scales, l.values},
                                                   {l.inter_words, l.inter_scales, l.contributions}};
  for (const std::vector<Region>& stage : stages) {
    std::vector<Region> all = {l.red, l.route, l.flag, l.expert, l.kof, l.scan};
    all.insert(all.end(), stage.begin(), stage.end());
    for (std::size_t i = 1; i < all.size(); ++i) {
      CHECK(all[i].offset >= all[i - 1].end());
      CHECK(all[i].offset % 16 == 0);
    }
    CHECK(all.back().end() <= l.bytes);
  }
}

TEST_CASE("health records name regions by the specification's ids") {
  const std::pair<std::string_view, std::uint32_t> ids[] = {
      {"part", 0x490F70C6},  {"wgt", 0x532BEF82}, {"msq", 0x1C5EEAFE},   {"xrdy", 0x70F28C6A},  {"ar", 0x03345809},
      {"sgu", 0x232577C8},   {"h", 0x116B06E7},   {"rpart", 0x2D7BEB68}, {"lpart", 0x72ABC28B}, {"route", 0x02C42079},
      {"inter", 0x7C802D6F}, {"isc", 0x68EE336A}, {"lmsq", 0x33ABA44B},  {"lnrdy", 0x3E243664}, {"shrdy", 0x79FF69EB},
      {"rlog", 0x100C06DC},  {"lat", 0x15020495}, {"latr", 0x6CF99A52},  {"final", 0x6CD55CC6}};
  for (const auto& [name, id] : ids) {
    INFO(name);
    CHECK(region_id(name) == id);
    CHECK(std::ranges::count(kWaitRegions, name) == 1);
  }
  CHECK(std::size(kWaitRegions) == std::size(ids));
}

TEST_CASE("the printed map tells every region's place, size and formula") {
  const BuildKey key = BuildKey::parse("kimi_k3.k2{tokens=8,nblocks=8}");
  const std::string text = layout_text(key.family().layout(key));
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(text, ContainsSubstring("scratch: 481248 bytes"));
  CHECK_THAT(text, ContainsSubstring("peer half: 4759552 bytes"));
  CHECK_THAT(text, ContainsSubstring("LDS: 132256 bytes"));
  CHECK_THAT(text, ContainsSubstring("   366560    114688  xrow   bf16 [token 8][column 7168]: token*7168 + column"));
}

TEST_CASE("every task of a stage has one workgroup, and stages that run side by side have none in common") {
  std::vector<int> tasks(kOutputTasks, 0);
  for (int b = kOutputProjection.first; b < kOutputProjection.end(); ++b) {
    for (int round = 0; round < kOutputTasksPerWorkgroup; ++round) {
      const int task = b - kOutputProjection.first + round * kOutputProjection.count;
      if (task < kOutputTasks) ++tasks[static_cast<std::size_t>(task)];
    }
  }
  CHECK(std::ranges::all_of(tasks, [](int count) { return count == 1; }));
  for (int b = 0; b < kWorkgroups; ++b) {
    CHECK(int{kResidual.contains(b)} + int{kSharedGateUp.contains(b)} + int{kRouter.contains(b)} +
              int{kLatentDown.contains(b)} <=
          1);
    CHECK((kResidual.contains(b) != kOutputProjection.contains(b)));
  }
}

TEST_CASE("shared down covers all columns on every rank, its own in the first 56 tasks") {
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<int> seen(kOutputTasks, 0);
    for (int task = 0; task < kOutputTasks; ++task) {
      const int group = shared_down_group(task, rank);
      ++seen[static_cast<std::size_t>(group)];
      const bool own = group >= kUpTasks * rank && group < kUpTasks * (rank + 1);
      CHECK(own == (task < kUpTasks));
    }
    CHECK(std::ranges::all_of(seen, [](int count) { return count == 1; }));
  }
}

TEST_CASE("GEMVs go through 8 waves in the specification's rounds") {
  const std::pair<GemvShape, std::pair<int, int>> expected[] = {{kOutputGemv, {12, 2}},    {kRouterGemv, {14, 2}},
                                                                {kLatentGemv, {28, 4}},    {kSharedGateUpGemv, {56, 7}},
                                                                {kSharedDownGemv, {6, 1}}, {kUpGemv, {28, 4}}};
  for (const auto& [shape, counts] : expected) {
    CHECK(shape.chunks() == counts.first);
    CHECK(shape.rounds() == counts.second);
  }
  CHECK_FALSE(kSharedGateUpGemv.has_masked_round());
  CHECK(kOutputGemv.has_masked_round());
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
