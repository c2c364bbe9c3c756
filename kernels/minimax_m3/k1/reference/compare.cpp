#include "kernels/minimax_m3/k1/reference/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "kernels/common/reference/comparing.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/reference.h"
#include "kernels/minimax_m3/k1/reference/wide.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BoundTracker;
using Tensors = std::vector<Tensor>;

class Comparer {
 public:
  Comparer(const K1Key& key, Chip chip, const Tensors& expected, const Tensors& after)
      : key_(key), chip_(chip), expected_(expected), after_(after) {}

  std::vector<Comparison> run(const WideCheck& wide) {
    whole("h_out", wide.h_out);
    if (key_.tokens > kSelfNormTokens) x8(wide.x8);
    pairs("qkv", "scratch", {qkv_region()}, wide.qkv);
    whole("q_out", wide.q_out);
    whole("iq_out", wide.iq_out);
    whole("k_cache", wide.k_cache);
    whole("v_cache", wide.v_cache);
    whole("k_scale", wide.k_scale);
    whole("v_scale", wide.v_scale);
    whole("index_cache", wide.index_cache);
    pairs("iscore", "iscore", {{0, kPairBytes * kMaxTokens * kScorePairs}}, wide.iscore);
    if (key_.signal) pairs("flags", "scratch", {heads_done_region(), rows_done_region()}, {});
    rest_of_scratch();
    if (!key_.timeline) whole("tl", {});
    inputs();
    return std::move(rows_);
  }

 private:
  void row(std::string_view name, std::size_t elements, std::size_t mismatches, const BoundTracker& wide) {
    rows_.push_back(
        {std::string(name), elements, mismatches, wide.error(), wide.bound(), mismatches == 0 && wide.within()});
  }

  std::size_t differing(std::string_view name) const {
    return mismatches(reference::named(expected_, name), reference::named(after_, name), chip_.format);
  }

  void whole(std::string_view name, const BoundTracker& wide) {
    row(name, reference::element_count(reference::named(after_, name).shape), differing(name), wide);
  }

  /// Bytes of a tensor.
  struct Region {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  static Region region(std::int64_t begin, std::int64_t bytes) { return {begin, begin + bytes}; }
  Region qkv_region() const {
    return region(kScratchQkv, kPairBytes * key_.tokens * projection_rows(key_.index_heads));
  }
  Region x8_region() const { return region(kScratchX8, std::int64_t{key_.tokens} * kHidden); }
  Region x8_scale_region() const { return region(kScratchX8Scale, kPairBytes * key_.tokens); }
  Region heads_done_region() const { return region(kScratchHeadsDone, kPairBytes * key_.tokens * kHeadTasks); }
  Region rows_done_region() const { return region(kScratchRowsDone, kPairBytes * key_.tokens); }

  template <class T>
  static std::span<const T> part(const Tensors& tensors, std::string_view name, const Region& region) {
    constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
    return reference::elements<T>(tensors, name)
        .subspan(static_cast<std::size_t>(region.begin / kWidth),
                 static_cast<std::size_t>((region.end - region.begin) / kWidth));
  }

  /// Words of pairs, values and tags, that differ; NaN values are equal.
  std::size_t differing_words(std::string_view name, const Region& region) const {
    const auto want = part<std::uint32_t>(expected_, name, region);
    const auto got = part<std::uint32_t>(after_, name, region);
    if (std::ranges::equal(want, got)) return 0;
    const auto is_nan = [](std::uint32_t bits) { return std::isnan(std::bit_cast<float>(bits)); };
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < want.size(); i += 2) {
      wrong += want[i] != got[i] && !(is_nan(want[i]) && is_nan(got[i])) ? 1 : 0;
      wrong += want[i + 1] != got[i + 1] ? 1 : 0;
    }
    return wrong;
  }

  void pairs(std::string_view name, std::string_view tensor, std::initializer_list<Region> regions,
             const BoundTracker& wide) {
    std::size_t words = 0;
    std::size_t wrong = 0;
    for (const Region& region : regions) {
      words += static_cast<std::size_t>((region.end - region.begin) / 4);
      wrong += differing_words(tensor, region);
    }
    row(name, words, wrong, wide);
  }

  void x8(const BoundTracker& wide) {
    const auto want = part<std::uint8_t>(expected_, "scratch", x8_region());
    const auto got = part<std::uint8_t>(after_, "scratch", x8_region());
    const auto is_nan = [&](std::uint8_t byte) { return reference::fp8_is_nan(chip_.format, byte); };
    std::size_t wrong = differing_words("scratch", x8_scale_region());
    for (std::size_t i = 0; i < want.size(); ++i) wrong += want[i] != got[i] && !(is_nan(want[i]) && is_nan(got[i]));
    row("x8", want.size() + static_cast<std::size_t>(2 * key_.tokens), wrong, wide);
  }

  /// What no launch of this build writes.
  std::vector<Region> unwritten() const {
    std::vector<Region> written = {qkv_region()};
    if (key_.tokens > kSelfNormTokens) written.insert(written.end(), {x8_region(), x8_scale_region()});
    if (key_.signal) written.insert(written.end(), {heads_done_region(), rows_done_region()});
    std::vector<Region> rest;
    std::int64_t begin = 0;
    for (const Region& region : written) {
      rest.push_back({begin, region.begin});
      begin = region.end;
    }
    rest.push_back({begin, kScratchBytes});
    return rest;
  }

  void rest_of_scratch() {
    std::size_t bytes = 0;
    std::size_t wrong = 0;
    for (const Region& region : unwritten()) {
      bytes += static_cast<std::size_t>(region.end - region.begin);
      wrong += unequal(part<std::uint8_t>(expected_, "scratch", region), part<std::uint8_t>(after_, "scratch", region));
    }
    row("scratch", bytes, wrong, {});
  }

  static std::size_t unequal(std::span<const std::uint8_t> want, std::span<const std::uint8_t> got) {
    if (std::ranges::equal(want, got)) return 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < want.size(); ++i) wrong += want[i] != got[i] ? 1 : 0;
    return wrong;
  }

  void inputs() {
    std::size_t bytes = 0;
    std::size_t wrong = 0;
    for (const Argument& argument : kK1Arguments) {
      if (argument.written) continue;
      const auto want = reference::elements<std::uint8_t>(expected_, argument.name);
      const auto got = reference::elements<std::uint8_t>(after_, argument.name);
      bytes += want.size();
      wrong += unequal(want, got);
    }
    row("inputs", bytes, wrong, {});
  }

  const K1Key& key_;
  Chip chip_;
  const Tensors& expected_;
  const Tensors& after_;
  std::vector<Comparison> rows_;
};

}  // namespace

std::vector<Comparison> compare_tensors(const K1Key& key, std::string_view arch, const Tensors& before,
                                        const Tensors& after, reference::MatrixModel model) {
  const Tensors expected = run_reference(key, arch, before, model);
  return Comparer(key, chip_rules(arch), expected, after).run(check_wide(key, arch, before, after));
}

}  // namespace monojit::kernels::minimax_m3
