// Weights that kernels request ahead stay in flight while the present ones are used, in the code that LLVM makes of it.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include "codegen/build.h"
#include "kernels/emitters.h"

namespace {

using namespace monojit;
using Lines = std::vector<std::string>;

Lines isa_of(const kernels::BuildKey& key) {
  const ir::Target& target = *ir::find_target("gfx950");
  const auto kernel = kernels::emit(key, target);
  const codegen::Build build = codegen::compile(kernel->finish(), target, {.policy = {}, .stages = {.isa = true}});
  Lines lines;
  std::string_view text = build.stages.isa;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// How many vector memory operations a wait leaves in flight; none: it isn't one for these.
std::optional<int> left_in_flight(std::string_view line) {
  constexpr std::string_view kCount = "vmcnt(";
  const std::size_t at = line.find(kCount);
  if (at == line.npos) return std::nullopt;
  int count = 0;
  std::from_chars(line.data() + at + kCount.size(), line.data() + line.size(), count);
  return count;
}

/// The least that a wait leaves in flight in a loop over MFMAs: between the barrier in front of the first one, numbered
/// among the kernel's scaled MFMAs, and the last one.
int least_in_flight(const Lines& lines, std::size_t first, std::size_t last) {
  std::vector<std::size_t> mfmas;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].find(" v_mfma_scale_") != std::string::npos) mfmas.push_back(i);
  REQUIRE(last < mfmas.size());
  std::size_t begin = mfmas[first];
  while (lines[begin].find(" s_barrier") == std::string::npos) --begin;
  int least = 63;
  for (std::size_t i = begin; i < mfmas[last]; ++i) least = std::min(least, left_in_flight(lines[i]).value_or(least));
  return least;
}

}  // namespace

TEST_CASE("K2 leaves the next expert's weights in flight while it multiplies the present one's") {
  constexpr int kGateUpMfmas = 2 * 14;           // of both buffers
  constexpr int kGateUpLoads = 14 + 7;           // tiles and scales of a task
  constexpr int kSlotMfmas = 3, kSlotLoads = 5;  // of the down projection
  struct Case {
    int tokens, slots;  // of a wave, requested together
  };
  for (const auto [tokens, slots] : {Case{1, 2}, Case{2, 4}, Case{4, 4}, Case{5, 5}, Case{8, 5}}) {
    const Lines lines = isa_of(kernels::BuildKey::parse(fmt::format("kimi_k3.k2{{tokens={},nblocks=4}}", tokens)));
    INFO(tokens);
    CHECK(least_in_flight(lines, 0, kGateUpMfmas - 1) >= kGateUpLoads);
    const auto down_mfmas = static_cast<std::size_t>(2 * slots * kSlotMfmas);
    CHECK(least_in_flight(lines, kGateUpMfmas, kGateUpMfmas + down_mfmas - 1) >= slots * kSlotLoads);
  }
}
