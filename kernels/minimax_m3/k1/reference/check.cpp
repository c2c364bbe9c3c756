#include "kernels/minimax_m3/k1/reference/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/addresses.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/pairs.h"
#include "kernels/minimax_m3/k1/reference/shapes.h"
#include "kernels/minimax_m3/k1/reference/step_rows.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::elements;
using Tensors = std::vector<Tensor>;

constexpr std::int64_t kMaxTableWidth = kScorePairs;
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 32;  // of 32-bit cache offsets

template <class... Values>
[[noreturn]] void refuse(std::string_view tensor, fmt::format_string<Values...> text, Values&&... values) {
  throw UserError(fmt::format("tensor {}: {}", tensor, fmt::format(text, std::forward<Values>(values)...)));
}

std::string wanted_text(const TensorShape& shape) {
  std::string text;
  for (const std::int64_t extent : shape.extents) text += extent == kFree ? "[any]" : fmt::format("[{}]", extent);
  return text;
}

bool fits(std::span<const std::int64_t> extents, const TensorShape& shape) {
  const bool scalar = shape.extents.size() == 1 && shape.extents[0] == 1;
  if (extents.empty() && scalar) return true;
  return std::ranges::equal(extents, shape.extents, [](std::int64_t have, std::int64_t want) {
    return want == kFree ? have >= 1 : have == want;
  });
}

void check_key(const K1Key& key) {
  if (key.tokens < 1 || key.tokens > kMaxTokens) {
    throw UserError(fmt::format("minimax_m3.k1: tokens = {} is out of range 1..{}", key.tokens, kMaxTokens));
  }
}

void check_shapes(const K1Key& key, const Tensors& tensors) {
  const std::vector<TensorShape> shapes = tensor_shapes(key);
  if (tensors.size() != shapes.size()) {
    throw UserError(fmt::format("minimax_m3.k1 takes {} tensors, not {}", shapes.size(), tensors.size()));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.name != shapes[i].name) refuse(tensor.name, "stands where {} belongs", shapes[i].name);
    if (tensor.dtype != shapes[i].dtype) {
      refuse(tensor.name, "is {}, must be {}", reference::dtype_name(tensor.dtype),
             reference::dtype_name(shapes[i].dtype));
    }
    if (!fits(tensor.shape, shapes[i])) {
      refuse(tensor.name, "has shape {}, must be {}", reference::shape_text(tensor.shape), wanted_text(shapes[i]));
    }
    const std::size_t bytes = reference::element_count(tensor.shape) * reference::element_bytes(tensor.dtype);
    if (tensor.bytes.size() != bytes)
      refuse(tensor.name, "holds {} bytes, its shape needs {}", tensor.bytes.size(), bytes);
  }
}

std::int64_t scalar(const Tensors& tensors, std::string_view name) { return elements<std::int32_t>(tensors, name)[0]; }

void check_scalar(const Tensors& tensors, std::string_view name, std::int64_t first, std::int64_t last) {
  const std::int64_t value = scalar(tensors, name);
  if (value < first || value > last) refuse(name, "is {}, must be {}..{}", value, first, last);
}

void check_q_len(const K1Key& key, const Tensors& tensors) {
  check_scalar(tensors, "q_len", 1, key.tokens);
  const std::int64_t q_len = scalar(tensors, "q_len");
  if (key.tokens % q_len != 0) refuse("q_len", "{} rows a request do not divide the {} rows", q_len, key.tokens);
  if (q_len > 1 && !key.signal) {
    refuse("q_len", "is {}, but a build without signal can't score keys of this launch: use q_len 1 or signal=1",
           q_len);
  }
}

void check_scalars(const K1Key& key, const Tensors& tensors) {
  check_scalar(tensors, "layer", 0, kMaxLayer);
  check_scalar(tensors, "bt_width", 1, kMaxTableWidth);
  check_q_len(key, tensors);
  const std::int64_t pitch = reference::named(tensors, "block_table").shape[1];
  if (scalar(tensors, "bt_width") != pitch) {
    refuse("bt_width", "is {}, but rows of block_table have {} entries", scalar(tensors, "bt_width"), pitch);
  }
}

void check_positions(const Tensors& tensors) {
  const std::int64_t rows = reference::named(tensors, "cos_sin").shape[0];
  for (const std::int64_t position : elements<std::int64_t>(tensors, "positions")) {
    if (position < 0 || position >= rows)
      refuse("positions", "position {} is outside of cos_sin's {} rows", position, rows);
  }
}

void check_slot(const K1Key& key, const Tensors& tensors, std::int64_t slot) {
  if (slot < std::numeric_limits<std::int32_t>::min() || slot > std::numeric_limits<std::int32_t>::max()) {
    refuse("slot_mapping", "slot {} does not fit in 32 bits", slot);
  }
  if (slot < 0) return;
  const CachePlace place = cache_place(slot, key.page_stride);
  const auto inside = [&](std::string_view cache, std::int64_t index) {
    const std::int64_t count = reference::named(tensors, cache).shape[0];
    if (index >= count) refuse("slot_mapping", "slot {} is beyond the {} pages or blocks of {}", slot, count, cache);
  };
  inside("k_cache", place.page);
  inside("v_cache", place.page);
  inside("index_cache", slot / kBlock);
  if (key.kv_scale != KvScale::kScalarRead) {
    inside("k_scale", place.page);
    inside("v_scale", place.page);
  }
  if (!key.page_base64 && kPageBytes * (place.page + 1) > kMaxOffset) {
    refuse("slot_mapping", "slot {} lies past 4 GiB of the cache: build with page_base64=1", slot);
  }
}

void check_slots(const K1Key& key, const Tensors& tensors) {
  const auto slots = elements<std::int64_t>(tensors, "slot_mapping");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    check_slot(key, tensors, slots[i]);
    if (slots[i] >= 0 && std::ranges::count(slots.first(i), slots[i]) > 0) {
      refuse("slot_mapping", "two tokens are inserted at slot {}", slots[i]);
    }
  }
}

void check_sequences(const Tensors& tensors) {
  const std::int64_t blocks = reference::named(tensors, "index_cache").shape[0];
  const std::int64_t pitch = scalar(tensors, "bt_width");
  const auto table = elements<std::int32_t>(tensors, "block_table");
  const auto lengths = elements<std::int32_t>(tensors, "seq_lens");
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const std::int64_t length = lengths[row];
    if (length < 0 || length > pitch * kBlock) {
      refuse("seq_lens", "{} keys of row {} are outside of 0..{}, what block_table's {} entries hold", length, row,
             pitch * kBlock, pitch);
    }
    for (std::int64_t i = 0; i < (length + kBlock - 1) / kBlock; ++i) {
      const std::int32_t block = table[row * static_cast<std::size_t>(pitch) + static_cast<std::size_t>(i)];
      if (block < 0 || block >= blocks) {
        refuse("block_table", "block {} of row {} is {}, but index_cache has {} blocks", i, row, block, blocks);
      }
    }
  }
}

/// FNUZ weights come from OCP ones by the host: 0x80 must have become 0, and NaN bytes have no counterpart.
void check_weights(const Chip& chip, const Tensors& tensors) {
  const auto scales = elements<float>(tensors, "s_qkv");
  for (std::size_t row = 0; row < scales.size(); ++row) {
    if (!(scales[row] >= 0)) refuse("s_qkv", "scale {} of row {} is not a number of 0 or more", scales[row], row);
  }
  if (chip.format != reference::Fp8Format::kFnuz) return;
  const auto bytes = elements<std::uint8_t>(tensors, "w_qkv");
  for (const std::uint8_t bad : {std::uint8_t{0x80}, std::uint8_t{0x7F}, std::uint8_t{0xFF}}) {
    if (std::ranges::find(bytes, bad) == bytes.end()) continue;
    refuse("w_qkv",
           "holds byte {:#04x}, which gfx942's E4M3FNUZ reads otherwise than E4M3FN: store 0x80 as 0x00, keep the "
           "other bytes, double s_qkv, and refuse weights with NaN",
           bad);
  }
}

/// A key that goes into a block which is scored without waiting for it: the score depends on who comes first.
void check_inserted_keys(const K1Key& key, const Tensors& tensors) {
  if (!key.scorer) return;
  std::map<std::int64_t, std::int64_t> inserted;  // slot by block
  for (const std::int64_t slot : elements<std::int64_t>(tensors, "slot_mapping")) {
    if (slot >= 0) inserted[slot / kBlock] = slot;
  }
  const auto table = elements<std::int32_t>(tensors, "block_table");
  const auto lengths = elements<std::int32_t>(tensors, "seq_lens");
  for (const ScoredBlocks& request : scored_blocks(key, tensors)) {
    for (std::int64_t i = 0; i < request.blocks; ++i) {
      const std::int64_t block = request.block(i);
      const auto found =
          inserted.find(table[static_cast<std::size_t>(request.last_row * scalar(tensors, "bt_width") + block)]);
      if (found == inserted.end()) continue;
      if (waits_for_new_keys(key, block, visible_keys(lengths[static_cast<std::size_t>(request.last_row)]))) continue;
      refuse("slot_mapping", "slot {} lies in block {} of row {}, which is scored without waiting for its new key",
             found->second, block, request.last_row);
    }
  }
}

[[noreturn]] void refuse_stale(const Tensors& tensors, std::string_view tensor) {
  refuse(tensor, "already holds values of step {} and layer {}: zero it, or raise step", scalar(tensors, "step"),
         scalar(tensors, "layer"));
}

void check_pairs(const Tensors& tensors, std::string_view tensor, std::int64_t region, std::int64_t pairs) {
  const std::uint32_t tag = launch_tag(tensors);
  const auto words = elements<std::uint32_t>(tensors, tensor)
                         .subspan(static_cast<std::size_t>(region / 4), static_cast<std::size_t>(2 * pairs));
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (words[i] == tag) refuse_stale(tensors, tensor);
  }
}

void check_mailboxes(const K1Key& key, const Tensors& tensors) {
  check_pairs(tensors, "scratch", kScratchQkv, std::int64_t{key.tokens} * projection_rows(key.index_heads));
  check_pairs(tensors, "scratch", kScratchX8Scale, kMaxTokens);
  check_pairs(tensors, "scratch", kScratchHeadsDone, std::int64_t{kMaxTokens} * kHeadTasks);
  check_pairs(tensors, "scratch", kScratchRowsDone, kMaxTokens);
  check_pairs(tensors, "iscore", 0, std::int64_t{kMaxTokens} * kScorePairs);
}

void check_health(const K1Key& key, const Tensors& tensors) {
  if (!key.bounded) return;
  const auto words = elements<std::uint32_t>(tensors, "scratch")
                         .subspan(kScratchHealth / 4, static_cast<std::size_t>(health_bytes(kWorkgroups) / 4));
  if (std::ranges::all_of(words, [](std::uint32_t word) { return word == 0; })) return;
  const auto story = explain_health(words, kWorkgroups, kWaitRegions);
  refuse("scratch",
         "its health words are not 0: zero the whole of it before the first launch and after one that failed{}{}",
         story ? "; " : "", story.value_or(""));
}

}  // namespace

void check_tensors(const K1Key& key, std::string_view arch, const Tensors& tensors) {
  check_key(key);
  check_shapes(key, tensors);
  check_scalars(key, tensors);
  check_positions(tensors);
  check_slots(key, tensors);
  check_sequences(tensors);
  check_weights(chip_rules(arch), tensors);
  check_inserted_keys(key, tensors);
  check_mailboxes(key, tensors);
  check_health(key, tensors);
}

}  // namespace monojit::kernels::minimax_m3
