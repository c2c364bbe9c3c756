#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/head.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"

// Whole launches of the reference: what lands where in the caches, and that nothing else changes.
namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;

constexpr std::int64_t kLastSlot = 64 * kBlock - 1;  // generated caches have 64 blocks

/// Index of an element in a row-major tensor.
std::size_t at(const Tensor& tensor, std::initializer_list<std::int64_t> place) {
  std::size_t index = 0;
  std::size_t dimension = 0;
  for (const std::int64_t i : place) index = index * static_cast<std::size_t>(tensor.shape[dimension++]) + i;
  return index;
}

/// What a launch should have put at a slot, in terms of the tensors' shapes.
class Slot {
 public:
  Slot(const K1Case& a_case, std::int64_t slot) : a_case_(a_case), block_(slot / 128), offset_(slot % 128) {
    page_ = block_ * a_case.key.page_stride + offset_ / 16;
  }

  std::uint8_t k(const std::vector<Tensor>& tensors, std::int64_t d) const {
    return byte(tensors, "k_cache", {page_, d / 16, offset_ % 16, d % 16});
  }
  std::uint8_t v(const std::vector<Tensor>& tensors, std::int64_t d) const {
    return byte(tensors, "v_cache", {page_, d, offset_ % 16});
  }
  std::uint8_t index_k(const std::vector<Tensor>& tensors, std::int64_t d) const {
    return byte(tensors, "index_cache", {block_, offset_, d});
  }
  float scale(const std::vector<Tensor>& tensors, std::string_view name) const {
    const Tensor& tensor = reference::named(tensors, name);
    if (a_case_.key.kv_scale == KvScale::kScalarRead) return elements<float>(tensor)[0];
    return elements<float>(tensor)[at(tensor, {page_, offset_ % 16})];
  }

 private:
  static std::uint8_t byte(const std::vector<Tensor>& tensors, std::string_view name,
                           std::initializer_list<std::int64_t> place) {
    const Tensor& tensor = reference::named(tensors, name);
    return elements<std::uint8_t>(tensor)[at(tensor, place)];
  }
  const K1Case& a_case_;
  std::int64_t block_;
  std::int64_t offset_;
  std::int64_t page_;
};

/// Elements that a launch changed, by tensor.
std::map<std::string, std::size_t> changes(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t width = reference::element_bytes(before[i].dtype);
    std::size_t count = 0;
    for (std::size_t byte = 0; byte < before[i].bytes.size(); byte += width) {
      const auto same = [&](std::size_t j) { return before[i].bytes[byte + j] == after[i].bytes[byte + j]; };
      for (std::size_t j = 0; j < width; ++j) {
        if (same(j)) continue;
        ++count;
        break;
      }
    }
    if (count > 0) counts[before[i].name] = count;
  }
  return counts;
}

std::vector<float> projected(const std::vector<Tensor>& after, int token, int task) {
  std::vector<float> head;
  head.reserve(kHeadDim);
  for (int d = 0; d < kHeadDim; ++d) head.push_back(qkv_value(after, token, task * kHeadDim + d));
  return head;
}

HeadVector rotated(const K1Case& a_case, const std::vector<Tensor>& after, int token, int task,
                   std::string_view gamma) {
  const auto position = static_cast<std::size_t>(elements<std::int64_t>(a_case.tensors, "positions")[token]);
  return norm_and_rotate(projected(after, token, task), elements<BFloat16Bits>(a_case.tensors, gamma),
                         elements<BFloat16Bits>(a_case.tensors, "cos_sin").subspan(position * 64, 64), a_case.key.eps);
}

void check_inserted(const K1Case& a_case, const std::vector<Tensor>& after, int token, std::int64_t slot) {
  const Slot place(a_case, slot);
  const Chip chip = chip_rules(a_case.arch);
  const auto memory_scale = [&](std::string_view name) { return elements<float>(a_case.tensors, name)[0]; };
  const CacheRow k = k_cache_row(rotated(a_case, after, token, 16, "g_k"), a_case.key.kv_scale, memory_scale("k_scale"),
                                 a_case.key.saturate, chip);
  const CacheRow v =
      v_cache_row(projected(after, token, 17), a_case.key.kv_scale, memory_scale("v_scale"), a_case.key.saturate, chip);
  const CacheRow index_k = index_cache_row(rotated(a_case, after, token, 19, "g_ik"), a_case.key.saturate, chip);
  CHECK(place.scale(after, "k_scale") == k.scale);
  CHECK(place.scale(after, "v_scale") == v.scale);
  std::size_t wrong = 0;
  for (std::size_t d = 0; d < kHeadDim; ++d) {
    wrong += place.k(after, static_cast<std::int64_t>(d)) != k.bytes[d];
    wrong += place.v(after, static_cast<std::int64_t>(d)) != v.bytes[d];
    wrong += place.index_k(after, static_cast<std::int64_t>(d)) != index_k.bytes[d];
  }
  CHECK(wrong == 0);
}

TEST_CASE("slots land at their page, token and block under both strides, and nothing else changes") {
  const std::pair<std::int64_t, std::int64_t> slots[] = {{0, 15}, {16, 127}, {143, 128}, {kLastSlot, -1}};
  for (const int stride : {8, 16}) {
    K1Case a_case({.tokens = 2, .page_stride = stride});
    for (const auto& [first, second] : slots) {
      INFO("slots " << first << " and " << second << ", stride " << stride);
      a_case.set_slot(0, first);
      a_case.set_slot(1, second);
      const std::vector<Tensor> after = a_case.expected();
      const std::size_t inserted = second < 0 ? 1 : 2;
      check_inserted(a_case, after, 0, first);
      if (second >= 0) check_inserted(a_case, after, 1, second);
      std::map<std::string, std::size_t> counts = changes(a_case.tensors, after);
      for (const char* cache : {"k_cache", "v_cache", "index_cache"}) {
        // A byte may equal the canary by chance.
        CHECK(counts[cache] <= inserted * kHeadDim);
        CHECK(counts[cache] >= inserted * kHeadDim - 10);
        counts.erase(cache);
      }
      CHECK(counts["k_scale"] == inserted);
      CHECK(counts["v_scale"] == inserted);
      for (const char* written : {"k_scale", "v_scale", "h_out", "q_out", "iq_out", "scratch"}) counts.erase(written);
      CHECK(counts.empty());
    }
  }
}

TEST_CASE("a padding row inserts nothing and has its other outputs all the same") {
  K1Case a_case;
  const std::vector<Tensor> with_slot = a_case.expected();
  a_case.set_slot(0, -1);
  const std::vector<Tensor> after = a_case.expected();
  const auto counts = changes(a_case.tensors, after);
  for (const char* cache : {"k_cache", "v_cache", "k_scale", "v_scale", "index_cache"})
    CHECK_FALSE(counts.contains(cache));
  for (const char* name : {"h_out", "q_out", "iq_out", "scratch"}) {
    CHECK(counts.contains(name));
    CHECK(reference::named(after, name).bytes == reference::named(with_slot, name).bytes);
  }
}

TEST_CASE("scales are written in the per-token and constant modes, only read in the scalar mode") {
  for (const int stride : {8, 16}) {
    for (const KvScale mode : {KvScale::kPerToken, KvScale::kStaticOne, KvScale::kScalarRead}) {
      K1Case a_case({.page_stride = stride, .kv_scale = mode});
      a_case.set_slot(0, 143);
      const std::vector<Tensor> after = a_case.expected();
      check_inserted(a_case, after, 0, 143);
      const auto counts = changes(a_case.tensors, after);
      CHECK(counts.contains("k_scale") == (mode != KvScale::kScalarRead));
      CHECK(counts.contains("v_scale") == (mode != KvScale::kScalarRead));
    }
  }
}

TEST_CASE("positions choose the row of the table, up to its last one") {
  K1Case a_case({.tokens = 2});
  const std::int64_t last = reference::named(a_case.tensors, "cos_sin").shape[0] - 1;
  a_case.set_position(0, last);
  a_case.set_position(1, 31);
  const std::vector<Tensor> after = a_case.expected();
  for (int token = 0; token < 2; ++token) {
    for (int head = 0; head < kQHeads; ++head) {
      const HeadVector q = rotated(a_case, after, token, head, "g_q");
      for (std::size_t d = 0; d < kHeadDim; ++d) {
        const std::size_t index = (static_cast<std::size_t>(token) * kQHeads + head) * kHeadDim + d;
        if (elements<BFloat16Bits>(after, "q_out")[index] != reference::bf16_bits(q[d]))
          FAIL("head " << head << " dim " << d);
      }
    }
    const HeadVector iq = rotated(a_case, after, token, 18, "g_iq");
    for (std::size_t d = 0; d < kHeadDim; ++d) {
      if (elements<BFloat16Bits>(after, "iq_out")[static_cast<std::size_t>(token) * kHeadDim + d] !=
          reference::bf16_bits(iq[d]))
        FAIL("index q dim " << d);
    }
  }
}

TEST_CASE("pairs carry the tag of step and layer, modulo 2^32") {
  K1Case a_case;
  a_case.set_launch(1000, 59);
  CHECK(qkv_tag(a_case.expected(), 0, 0) == 1000 * 128 + 59 + 1);
  a_case.set_launch(-1, 0);
  CHECK(qkv_tag(a_case.expected(), 0, projection_rows(1) - 1) == 0xFFFFFF81U);
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
