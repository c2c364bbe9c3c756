#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "kernels/minimax_m3/k1/layout.h"
#include "tests/kernels/device/k1_launch.h"

// K1 as an engine uses it: launch after launch on one scratch, caches that share an allocation, the timeline.
namespace {

using namespace monojit;
using kernels::minimax_m3::K1Case;
using kernels::minimax_m3::K1Key;
using tests::device_case;
using tests::disagreement;
using tests::launched;

std::size_t argument_index(std::string_view name) {
  const auto& arguments = kernels::minimax_m3::kK1Arguments;
  return static_cast<std::size_t>(std::ranges::find(arguments, name, &kernels::Argument::name) - std::begin(arguments));
}

/// Old tags and garbage everywhere but in the health words.
void spoil_scratch(K1Case& a_case) {
  namespace m3 = kernels::minimax_m3;
  const auto bytes = a_case.of<std::uint8_t>("scratch");
  std::ranges::fill(bytes, std::uint8_t{0xFF});
  std::ranges::fill(bytes.subspan(m3::kScratchHealth, kernels::health_bytes(m3::kWorkgroups)), std::uint8_t{0});
}

void check_launch_after_launch(const K1Key& key, int launches) {
  K1Case a_case = device_case(key);
  spoil_scratch(a_case);
  for (int i = 0; i < launches; ++i) {
    K1Case next = device_case(key, static_cast<std::uint64_t>(i));
    for (const auto* name : {"scratch", "iscore"}) {
      kernels::reference::named(next.tensors, name) = kernels::reference::named(a_case.tensors, name);
    }
    next.set_launch(i / 3, i % 3);
    next.check();
    const auto after = launched(next);
    INFO("launch " << i);
    CHECK(disagreement(next, after) == "");
    a_case.tensors = after;
  }
}

}  // namespace

TEST_CASE("20: Given one scratch, when step and layer move on, then no launch takes an older one's values", "[k1]") {
  constexpr int kLaunches = 12;
  check_launch_after_launch({.tokens = 2}, kLaunches);
  check_launch_after_launch({.tokens = 3, .signal = true}, kLaunches);
  check_launch_after_launch({.tokens = 4, .index_heads = 4, .index_own = 1, .signal = true}, kLaunches);
}

TEST_CASE("Given the same data twice, when K1 ran, then all bits are equal", "[k1]") {
  const K1Case a_case = device_case({.tokens = 1}, 7);
  const auto first = launched(a_case);
  const auto second = launched(a_case);
  for (const kernels::Tensor& tensor : a_case.tensors) CHECK(tests::same(first, second, tensor.name));
}

TEST_CASE("4.3: Given a V cache inside K's allocation, when K1 ran with stride 16, then each block holds both",
          "[k1]") {
  constexpr std::size_t kSide = 16384;  // bytes of one side of a block
  K1Case a_case = device_case({.tokens = 2, .page_stride = 16});
  const auto k_before = a_case.of<std::uint8_t>("k_cache");
  std::ranges::copy(k_before.subspan(kSide), a_case.of<std::uint8_t>("v_cache").begin());
  const auto expected = a_case.expected(kernels::reference::matrix_model(tests::device_traits().matrix_model));
  const auto key = tests::build_key(a_case.key);
  runtime::DeviceTensors tensors(tests::device(), key.family(), a_case.tensors);
  const std::byte* shared_cache = static_cast<const std::byte*>(tensors.buffer(argument_index("k_cache")).address());
  tensors.values()[argument_index("v_cache")] = shared_cache + kSide;
  tests::launch(tests::loaded(key), tensors);

  const auto after = tensors.download(a_case.tensors);
  const auto& shared = kernels::reference::named(after, "k_cache").bytes;
  const auto& k_side = kernels::reference::named(expected, "k_cache").bytes;
  const auto& v_side = kernels::reference::named(expected, "v_cache").bytes;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < shared.size(); ++i) {
    wrong += shared[i] != (i % (2 * kSide) >= kSide ? v_side[i - kSide] : k_side[i]) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("23: Given a timeline, when K1 ran, then outputs are the same and the stamps are those of each role",
          "[k1]") {
  const K1Case a_case = device_case({.tokens = 1, .timeline = true}, 2);
  const auto after = launched(a_case);
  CHECK(disagreement(a_case, after) == "");
  const auto stamps = kernels::reference::elements<std::int64_t>(after, "tl");
  namespace m3 = kernels::minimax_m3;
  int wrong = 0;
  for (int workgroup = 0; workgroup < m3::kWorkgroups; ++workgroup) {
    const auto row = stamps.subspan(static_cast<std::size_t>(workgroup) * m3::kTimelinePoints, m3::kTimelinePoints);
    const bool gemv = workgroup < m3::kGemvTasks;
    const bool head = !gemv && workgroup < m3::kFirstHeadWorkgroup + m3::kHeadTasks;
    for (int point = 0; point < m3::kTimelinePoints; ++point) {
      const bool of_gemv = point >= 1 && point <= 3;
      const bool passed = point == 0 || point == 5 || point == 6 || (gemv && of_gemv) || (head && point == 4);
      wrong += (row[static_cast<std::size_t>(point)] != 0) != passed ? 1 : 0;
    }
    if (row[6] < row[5] || row[5] < row[0]) ++wrong;
  }
  CHECK(wrong == 0);
}
