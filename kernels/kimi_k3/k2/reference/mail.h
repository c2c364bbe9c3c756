#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/region.h"

namespace monojit::kernels::kimi_k3 {

/// The memory of a layout's regions on the host: what a kernel puts there, and what is there.
class Mail {
 public:
  /// `memory` begins at the layout's offset 0.
  Mail(std::span<std::byte> memory, std::int32_t tag) : memory_(memory), tag_(static_cast<std::uint32_t>(tag)) {}

  /// Pair `index` of a region of pairs: a value and this launch's tag.
  void put(const Region& region, std::int64_t index, std::uint32_t value) const {
    word(region, 2 * index) = value;
    word(region, 2 * index + 1) = tag_;
  }
  void put(const Region& region, std::int64_t index, float value) const {
    put(region, index, std::bit_cast<std::uint32_t>(value));
  }
  void put(const Region& region, std::int64_t index, reference::BFloat16Bits even, reference::BFloat16Bits odd) const {
    put(region, index, even | static_cast<std::uint32_t>(odd) << 16);
  }
  /// A row of bf16 in pairs from `index` on.
  void put_row(const Region& region, std::int64_t index, std::span<const reference::BFloat16Bits> row) const {
    for (std::size_t i = 0; i < row.size(); i += 2) {
      put(region, index + static_cast<std::int64_t>(i / 2), row[i], row[i + 1]);
    }
  }

  std::uint32_t value(const Region& region, std::int64_t index) const { return word(region, 2 * index); }
  std::uint32_t tag(const Region& region, std::int64_t index) const { return word(region, 2 * index + 1); }
  float float_value(const Region& region, std::int64_t index) const {
    return std::bit_cast<float>(value(region, index));
  }
  /// Element `column` of a row of bf16 pairs that begins at pair `row`.
  float bf16_element(const Region& region, std::int64_t row, std::size_t column) const {
    const std::uint32_t pair = value(region, row + static_cast<std::int64_t>(column / 2));
    return reference::bf16_value(static_cast<reference::BFloat16Bits>(column % 2 == 0 ? pair : pair >> 16));
  }

  /// A region of plain bf16.
  std::span<reference::BFloat16Bits> row(const Region& region) const {
    return {reinterpret_cast<reference::BFloat16Bits*>(memory_.data() + region.offset),
            static_cast<std::size_t>(region.count())};
  }

 private:
  std::uint32_t& word(const Region& region, std::int64_t index) const {
    return reinterpret_cast<std::uint32_t*>(memory_.data() + region.offset)[index];
  }

  std::span<std::byte> memory_;
  std::uint32_t tag_;
};

}  // namespace monojit::kernels::kimi_k3
