#include "kernels/minimax_m3/k1/reference/k1_case.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "kernels/common/error.h"
#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "kernels/minimax_m3/k1/reference/check.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/compare.h"
#include "kernels/minimax_m3/k1/reference/generate.h"
#include "kernels/minimax_m3/k1/reference/pairs.h"
#include "kernels/minimax_m3/k1/reference/reference.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;

[[noreturn]] void not_a_float(std::string_view name) {
  throw UserError("tensor " + std::string(name) + " is neither bf16 nor f32");
}

}  // namespace

K1Case::K1Case(const K1Key& case_key, std::string_view case_arch, std::uint64_t case_seed)
    : key(case_key), arch(case_arch), seed(case_seed), tensors(generate_tensors(case_key, case_arch, case_seed)) {}

void K1Case::set(std::string_view name, std::size_t index, float value) {
  switch (reference::named(tensors, name).dtype) {
    case DType::kBFloat16:
      of<BFloat16Bits>(name)[index] = reference::bf16_bits(value);
      break;
    case DType::kFloat32:
      of<float>(name)[index] = value;
      break;
    default:
      not_a_float(name);
  }
}

void K1Case::fill(std::string_view name, float value) {
  const std::size_t count = reference::element_count(reference::named(tensors, name).shape);
  for (std::size_t i = 0; i < count; ++i) set(name, i, value);
}

float K1Case::get(std::string_view name, std::size_t index) const {
  switch (reference::named(tensors, name).dtype) {
    case DType::kBFloat16:
      return reference::bf16_value(elements<BFloat16Bits>(tensors, name)[index]);
    case DType::kFloat32:
      return elements<float>(tensors, name)[index];
    default:
      not_a_float(name);
  }
}

void K1Case::set_weight(std::int64_t n, std::int64_t k, float value) {
  of<std::uint8_t>("w_qkv")[weight_byte(n, k)] = reference::fp8_bits(chip_rules(arch).format, value);
}

void K1Case::clear_weights() { std::ranges::fill(of<std::uint8_t>("w_qkv"), std::uint8_t{0}); }

void K1Case::clear_row(int token) {
  for (const std::string_view name : {"ar", "res"}) {
    std::ranges::fill(of<BFloat16Bits>(name).subspan(static_cast<std::size_t>(token) * kHidden, kHidden),
                      BFloat16Bits{0});
  }
}

void K1Case::make_order_sensitive(std::uint64_t order_seed) {
  constexpr int kBlockInputs = 192;  // of one sign: sums climb to 2^27 and come back
  constexpr std::uint8_t kLargest = 0x7E;
  constexpr std::uint64_t kSmallCodes = 0x20;  // up to 2^-3 in OCP
  reference::Random random(order_seed, 0);
  fill("ar", 0);
  fill("g_in", 0);
  std::vector<bool> negative(kHidden);
  for (std::size_t k = 0; k < kHidden; ++k) {
    negative[k] = random.below(2) != 0;
    for (int token = 0; token < key.tokens; ++token) {
      set("res", static_cast<std::size_t>(token) * kHidden + k, negative[k] != (token % 2 != 0) ? -1.0F : 1.0F);
    }
  }
  const auto weight = of<std::uint8_t>("w_qkv");
  std::array<bool, kHidden / kBlockInputs> down{};
  std::fill_n(down.begin(), down.size() / 2, true);
  for (int n = 0; n < projection_rows(key.index_heads); ++n) {
    for (std::size_t i = down.size(); i > 1; --i) std::swap(down[i - 1], down[random.below(i)]);
    for (int k = 0; k < kHidden; ++k) {
      const bool large = std::popcount(static_cast<unsigned>(k)) % 2 != 0;  // one of each two neighbours
      const std::uint64_t code = large ? kLargest : 1 + random.below(kSmallCodes);
      const bool minus = large ? down[k / kBlockInputs] != negative[k] : random.below(2) != 0;
      weight[weight_byte(n, k)] = static_cast<std::uint8_t>(code | (minus ? 0x80U : 0U));
    }
  }
}

void K1Case::make_score_order_sensitive(std::uint64_t order_seed) {
  constexpr std::size_t kGroupDims = 8;  // of one sign
  constexpr std::uint8_t kLargest = 0x7E;
  constexpr std::uint64_t kSmallCodes = 0x30;
  reference::Random random(order_seed, 1);
  const auto weight = of<std::uint8_t>("w_qkv");
  const int first_row = index_q_head(0) * kHeadDim;
  for (int n = first_row + 1; n < index_k_head(key.index_heads) * kHeadDim; ++n) {
    for (int k = 0; k < kHidden; ++k) weight[weight_byte(n, k)] = weight[weight_byte(first_row, k)];
    set("s_qkv", static_cast<std::size_t>(n), get("s_qkv", static_cast<std::size_t>(first_row)));
  }
  fill("g_iq", 39.0F / 128);                            // 1 + g needs all bits of a bf16
  std::ranges::fill(of<std::int64_t>("positions"), 0);  // not rotated
  const auto keys = of<std::uint8_t>("index_cache");
  std::array<bool, kHeadDim / kGroupDims> down{};
  std::fill_n(down.begin(), down.size() / 2, true);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t d = i % kHeadDim;
    for (std::size_t left = d == 0 ? down.size() : 1; left > 1; --left) {
      std::swap(down[left - 1], down[random.below(left)]);
    }
    const bool large = std::popcount(d) % 2 != 0;  // one of each two neighbours
    const std::uint64_t code = large ? kLargest : 1 + random.below(kSmallCodes);
    const bool minus = large ? down[d / kGroupDims] : random.below(2) != 0;
    keys[i] = static_cast<std::uint8_t>(code | (minus ? 0x80U : 0U));
  }
}

void K1Case::set_requests(const Requests& requests) { minimax_m3::set_requests(key, arch, seed, requests, tensors); }

std::span<std::uint8_t> K1Case::index_key(int row, std::int64_t number) {
  const std::int64_t width = of<std::int32_t>("bt_width")[0];
  const std::int64_t block = of<std::int32_t>("block_table")[static_cast<std::size_t>(row * width + number / kBlock)];
  return of<std::uint8_t>("index_cache")
      .subspan(static_cast<std::size_t>((block * kBlock + number % kBlock) * kHeadDim), kHeadDim);
}

void K1Case::set_launch(std::int32_t step, std::int32_t layer) {
  of<std::int32_t>("step")[0] = step;
  of<std::int32_t>("layer")[0] = layer;
}

std::vector<Tensor> K1Case::expected(reference::MatrixModel model) const {
  return run_reference(key, arch, tensors, model);
}

std::vector<Comparison> K1Case::compare(const std::vector<Tensor>& after, reference::MatrixModel model) const {
  return compare_tensors(key, arch, tensors, after, model);
}

void K1Case::check() const { check_tensors(key, arch, tensors); }

float qkv_value(const std::vector<Tensor>& after, int token, int row) { return projected(after, token, row); }

std::uint32_t qkv_tag(const std::vector<Tensor>& after, int token, int row) {
  const std::int64_t rows = reference::named(after, "s_qkv").shape[0];
  return stored_pair(after, "scratch", kScratchQkv, token * rows + row).tag;
}

float score(const std::vector<Tensor>& after, int row, std::int64_t index) {
  return std::bit_cast<float>(stored_pair(after, "iscore", 0, std::int64_t{row} * kScorePairs + index).value);
}

std::vector<std::int64_t> scored_pairs(const std::vector<Tensor>& after) {
  std::vector<std::int64_t> pairs;
  const std::uint32_t tag = launch_tag(after);
  const auto words = elements<std::uint32_t>(after, "iscore");
  for (std::size_t i = 0; i < words.size() / 2; ++i) {
    if (words[2 * i + 1] == tag) pairs.push_back(static_cast<std::int64_t>(i));
  }
  return pairs;
}

}  // namespace monojit::kernels::minimax_m3
