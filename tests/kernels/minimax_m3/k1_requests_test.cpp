#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/generate.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "kernels/minimax_m3/k1/reference/step_rows.h"

// The steps that tests make up: fit for a launch, of every kind, and of moderate size.
namespace monojit::kernels::minimax_m3 {
namespace {

using reference::elements;

constexpr std::uint64_t kSeeds = 10;  // every kind of step, with and without padding
constexpr std::size_t kMaxBytes = std::size_t{300} << 20;

TEST_CASE("generated steps are fit for a launch, of every kind, and moderate in size") {
  std::set<std::string> kinds;
  std::set<int> q_lens;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const K1Key key{.tokens = seed % 2 == 0 ? 16 : 12,
                    .index_heads = seed % 3 == 0 ? 1 : 4,
                    .index_own = seed % 3 == 0 ? 0 : 2,
                    .signal = seed % 4 >= 2};
    const K1Case a_case(key, seed % 2 == 0 ? "gfx950" : "gfx942", seed);
    INFO("seed " << seed);
    CHECK_NOTHROW(a_case.check());
    std::size_t bytes = 0;
    for (const Tensor& tensor : a_case.tensors) bytes += tensor.bytes.size();
    CHECK(bytes < kMaxBytes);
    const int q_len = elements<std::int32_t>(a_case.tensors, "q_len")[0];
    CHECK((key.signal || q_len == 1));
    q_lens.insert(q_len);
    const std::vector<ScoredBlocks> requests = scored_blocks(key, a_case.tensors);
    const std::int64_t tasks = own_score_tasks(requests);
    kinds.insert(tasks == 0 ? "none" : tasks <= 256 ? "few" : "many");
    if (is_long_step(key, a_case.tensors)) kinds.insert("long");
    if (seed % kPadPeriod == kPadRemainder) {
      CHECK(elements<std::int32_t>(a_case.tensors, "seq_lens")[key.tokens - 1] == 0);
      CHECK(elements<std::int64_t>(a_case.tensors, "slot_mapping")[key.tokens - 1] == -1);
    }
  }
  CHECK(kinds == std::set<std::string>{"none", "few", "many", "long"});
  CHECK(q_lens.size() >= 3);
}

TEST_CASE("rows of a request share its table and see one key more each") {
  K1Case a_case({.tokens = 8, .signal = true});
  a_case.set_requests({.q_len = 4, .lengths = {130, 20 * 128}});
  const auto lengths = a_case.of<std::int32_t>("seq_lens");
  CHECK(std::vector(lengths.begin(), lengths.end()) == std::vector{127, 128, 129, 130, 2557, 2558, 2559, 2560});
  const auto table = a_case.of<std::int32_t>("block_table");
  const std::size_t width = a_case.of<std::int32_t>("bt_width")[0];
  for (std::size_t row = 4; row < 8; ++row) {
    CHECK(std::ranges::equal(table.subspan(4 * width, 20), table.subspan(row * width, 20)));
  }
  std::set<std::int64_t> slots;
  for (int row = 0; row < 8; ++row) {
    const std::int64_t position = lengths[row] - 1;
    CHECK(a_case.of<std::int64_t>("positions")[row] == position);
    const std::int64_t slot = a_case.of<std::int64_t>("slot_mapping")[row];
    CHECK(slot == std::int64_t{table[row * width + static_cast<std::size_t>(position / 128)]} * 128 + position % 128);
    slots.insert(slot);
  }
  CHECK(slots.size() == 8);
}

TEST_CASE("the longest request names blocks more than once and stays small") {
  K1Case a_case({.tokens = 2});
  a_case.set_requests({.lengths = {std::int64_t{1} << 20, 1}});
  CHECK_NOTHROW(a_case.check());
  CHECK(a_case.of<std::int32_t>("bt_width")[0] == 8192);
  CHECK(reference::named(a_case.tensors, "index_cache").bytes.size() < (std::size_t{20} << 20));
  CHECK(a_case.of<std::int64_t>("positions")[0] < reference::named(a_case.tensors, "cos_sin").shape[0]);
}

TEST_CASE("index keys are finite on both chips") {
  for (const char* arch : {"gfx950", "gfx942"}) {
    const K1Case a_case({.tokens = 1}, arch, 1);
    const auto format = arch == std::string("gfx950") ? reference::Fp8Format::kOcp : reference::Fp8Format::kFnuz;
    const auto keys = elements<std::uint8_t>(a_case.tensors, "index_cache");
    CHECK(std::ranges::none_of(keys, [&](std::uint8_t byte) { return reference::fp8_is_nan(format, byte); }));
  }
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
