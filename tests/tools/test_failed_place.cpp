#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/health.h"
#include "kernels/kimi_k3/model.h"
#include "tools/failed_place.h"

namespace monojit::tools {
namespace {

using kernels::kimi_k3::back_slot;
using Words = std::vector<std::uint32_t>;
using Place = std::optional<std::vector<std::pair<std::string, std::int64_t>>>;

constexpr int kWorkgroups = 256;

Words healthy() { return Words(static_cast<std::size_t>(kernels::health_bytes(kWorkgroups)) / 4); }

void give_up(Words& words, std::uint32_t workgroup, std::int32_t epoch, int layer) {
  const auto tag = static_cast<std::uint32_t>(kernels::kimi_k3::launch_tag(epoch, back_slot(layer)));
  const std::uint32_t record[] = {1, kernels::region_id("ar"), 0, tag, 0, workgroup, 0, 0};
  std::copy(std::begin(record), std::end(record), words.begin() + (workgroup + 1) * kernels::kHealthRecordWords);
  words[0] = 1;
}

std::vector<runtime::WatchedLaunch> launches() {
  return {{kernels::BuildKey::parse("kimi_k3.k2{tokens=1,nblocks=1}"), back_slot(4)},
          {kernels::BuildKey::parse("kimi_k3.k2{tokens=1,nblocks=1}"), back_slot(5)}};
}

Place place(std::int64_t step, std::int64_t layer) { return Place({{"step", step}, {"layer", layer}}); }

TEST_CASE("The earliest launch that any rank's records tell of is the one that failed") {
  std::vector<Words> health(3, healthy());
  CHECK_FALSE(failed_place(health, launches(), 9));
  give_up(health[0], 3, 9, 4);
  CHECK(failed_place(health, launches(), 9) == place(9, 4));
  give_up(health[1], 3, 7, 5);
  give_up(health[1], 2, 8, 4);
  CHECK(failed_place(health, launches(), 9) == place(7, 5));
  give_up(health[2], 200, 7, 4);
  CHECK(failed_place(health, launches(), 9) == place(7, 4));
}

TEST_CASE("The step that failed is found where tags have begun anew since") {
  constexpr std::int32_t kTags = 1 << 22;
  std::vector<Words> health(1, healthy());
  give_up(health[0], 0, 3 * kTags - 2, 5);
  give_up(health[0], 1, 3 * kTags, 4);
  CHECK(failed_place(health, launches(), 3 * kTags + 1) == place(3 * kTags - 2, 5));
}

TEST_CASE("Records of launches that are none of the step's, and ranks that can't be read, tell nothing") {
  std::vector<Words> health = {healthy(), {}};
  give_up(health[0], 0, 7, 6);
  CHECK_FALSE(failed_place(health, launches(), 9));
}

}  // namespace
}  // namespace monojit::tools
