#include "kernels/minimax_m3/k1/reference/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
    qkv(wide.qkv);
    whole("q_out", wide.q_out);
    whole("iq_out", wide.iq_out);
    whole("k_cache", wide.k_cache);
    whole("v_cache", wide.v_cache);
    whole("k_scale", wide.k_scale);
    whole("v_scale", wide.v_scale);
    whole("index_cache", wide.index_cache);
    whole("iscore", {});
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

  std::size_t qkv_words() const {
    return static_cast<std::size_t>(key_.tokens) * projection_rows(key_.index_heads) * 2;
  }

  void qkv(const BoundTracker& wide) {
    const auto want = reference::elements<std::uint32_t>(expected_, "scratch").first(qkv_words());
    const auto got = reference::elements<std::uint32_t>(after_, "scratch").first(qkv_words());
    const auto is_nan = [](std::uint32_t bits) { return std::isnan(std::bit_cast<float>(bits)); };
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < want.size(); i += 2) {
      wrong += want[i] != got[i] && !(is_nan(want[i]) && is_nan(got[i])) ? 1 : 0;
      wrong += want[i + 1] != got[i + 1] ? 1 : 0;
    }
    row("qkv", want.size(), wrong, wide);
  }

  void rest_of_scratch() {
    const auto want = reference::elements<std::uint8_t>(expected_, "scratch").subspan(4 * qkv_words());
    row("scratch", want.size(),
        unequal(want, reference::elements<std::uint8_t>(after_, "scratch").subspan(4 * qkv_words())), {});
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
