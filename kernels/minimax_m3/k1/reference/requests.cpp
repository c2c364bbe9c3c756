#include "kernels/minimax_m3/k1/reference/requests.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>

#include "kernels/common/reference/fp8.h"
#include "kernels/common/reference/random.h"
#include "kernels/common/reference/tensors.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/chip.h"
#include "kernels/minimax_m3/k1/reference/generate.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using reference::elements;
using reference::Fp8Format;
using reference::Random;
using Tensors = std::vector<Tensor>;

constexpr std::int64_t kMinWidth = 32;
constexpr std::int64_t kOldBlocks = 960;  // of the index cache: 15 MiB
constexpr std::uint64_t kStream = 0x7265717565737473;

std::int64_t blocks_of(std::int64_t keys) { return (keys + kBlock - 1) / kBlock; }

void resize(Tensor& tensor, std::size_t dimension, std::int64_t extent) {
  tensor.shape[dimension] = extent;
  tensor.bytes.resize(reference::element_count(tensor.shape) * reference::element_bytes(tensor.dtype));
}

std::vector<std::int32_t> shuffled(std::int64_t first, std::int64_t count, Random& source) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), static_cast<std::int32_t>(first));
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[source.below(i)]);
  return ids;
}

class Placing {
 public:
  Placing(const K1Key& key, std::uint64_t seed, const Requests& requests, Tensors& tensors)
      : tokens_(key.tokens), requests_(requests), tensors_(tensors), source_(seed, kStream) {
    std::int64_t width = kMinWidth;
    std::int64_t old_blocks = 0;
    for (int request = 0; request < tokens_ / requests.q_len; ++request) {
      width = std::max(width, blocks_of(length(request)));
      old_blocks += blocks_of(length(request));
    }
    old_blocks = std::clamp<std::int64_t>(old_blocks, 1, kOldBlocks);
    resize(reference::named(tensors, "block_table"), 1, width);
    resize(reference::named(tensors, "index_cache"), 0, kInsertBlocks + old_blocks);
    new_blocks_ = shuffled(0, kInsertBlocks, source_);
    old_blocks_ = shuffled(kInsertBlocks, old_blocks, source_);
    elements<std::int32_t>(tensors, "bt_width")[0] = static_cast<std::int32_t>(width);
    elements<std::int32_t>(tensors, "q_len")[0] = requests.q_len;
    for (std::int32_t& entry : elements<std::int32_t>(tensors, "block_table")) {
      entry = static_cast<std::int32_t>(source_.bits() | 0x40000000U);  // far outside of any cache
    }
  }

  void run() {
    for (int request = 0; request < tokens_ / requests_.q_len; ++request) place(request);
  }

 private:
  std::int64_t length(int request) const {
    return requests_.lengths[static_cast<std::size_t>(request) % requests_.lengths.size()];
  }

  std::vector<std::int32_t> table_of(std::int64_t keys) {
    std::vector<std::int32_t> table;
    const std::int64_t first_new = std::max<std::int64_t>(keys - requests_.q_len, 0) / kBlock;
    for (std::int64_t block = 0; block < blocks_of(keys); ++block) {
      table.push_back(block < first_new ? old_blocks_[next_old_++ % old_blocks_.size()] : new_blocks_[next_new_++]);
    }
    return table;
  }

  void place(int request) {
    const std::vector<std::int32_t> table = table_of(length(request));
    const auto entries = elements<std::int32_t>(tensors_, "block_table");
    const std::size_t width = entries.size() / static_cast<std::size_t>(tokens_);
    const std::int64_t positions = reference::named(tensors_, "cos_sin").shape[0];
    for (int j = 0; j < requests_.q_len; ++j) {
      const auto row = static_cast<std::size_t>(request * requests_.q_len + j);
      std::ranges::copy(table, entries.subspan(row * width, width).begin());
      const std::int64_t keys = std::max<std::int64_t>(length(request) - (requests_.q_len - 1 - j), 0);
      const std::int64_t last = keys - 1;
      elements<std::int32_t>(tensors_, "seq_lens")[row] = static_cast<std::int32_t>(keys);
      elements<std::int64_t>(tensors_, "positions")[row] = std::max<std::int64_t>(last, 0) % positions;
      elements<std::int64_t>(tensors_, "slot_mapping")[row] =
          keys == 0 ? -1 : std::int64_t{table[static_cast<std::size_t>(last / kBlock)]} * kBlock + last % kBlock;
    }
  }

  int tokens_;
  const Requests& requests_;
  Tensors& tensors_;
  Random source_;
  std::vector<std::int32_t> new_blocks_;
  std::vector<std::int32_t> old_blocks_;
  std::size_t next_new_ = 0;
  std::size_t next_old_ = 0;
};

/// Keys of deviation 1, as norm and rotation leave them.
void fill_keys(Fp8Format format, Random source, std::span<std::uint8_t> keys) {
  std::array<std::uint8_t, 4096> codes{};
  for (std::uint8_t& code : codes) code = reference::fp8_bits(format, source.gaussian());
  for (std::size_t i = 0; i < keys.size(); i += 4) {
    const std::uint64_t word = source.bits();
    for (std::size_t part = 0; part < 4; ++part) keys[i + part] = codes[(word >> (16 * part)) & 0xFFF];
  }
}

/// Length of one of `count` requests; at most 256 tasks come together when all are `few` ones.
std::int64_t few(Random& source, std::int64_t count) {
  const std::int64_t blocks = std::max<std::int64_t>(kUnscoredBlocks + 1, kWorkgroups / count + 1);
  return 1 + static_cast<std::int64_t>(source.below(static_cast<std::uint64_t>(blocks * kBlock)));
}

std::int64_t many(Random& source, std::int64_t count) {
  const std::int64_t least = kUnscoredBlocks + kTopBlocks + kWorkgroups / count;
  return kBlock * (least + static_cast<std::int64_t>(source.below(kWorkgroups / static_cast<std::uint64_t>(count)))) +
         1 + static_cast<std::int64_t>(source.below(kBlock));
}

std::int64_t edge(Random& source) {
  constexpr std::int64_t kEdges[] = {1, 2, 16, 127, 128, 129, 2047, 2048, 2049, 2176, 2177, 2304};
  return kEdges[source.below(std::size(kEdges))];
}

constexpr std::int64_t kNoScoresBelow = std::int64_t{kUnscoredBlocks} * kBlock;

std::int64_t without_scores(Random& source) { return 1 + static_cast<std::int64_t>(source.below(kNoScoresBelow)); }

int random_q_len(const K1Key& key, Random& source) {
  if (!key.signal) return 1;
  std::vector<int> divisors;
  for (int q_len = 1; q_len <= key.tokens; ++q_len) {
    if (key.tokens % q_len == 0) divisors.push_back(q_len);
  }
  return divisors[source.below(divisors.size())];
}

}  // namespace

void set_requests(const K1Key& key, std::string_view arch, std::uint64_t seed, const Requests& requests,
                  std::vector<Tensor>& tensors) {
  Placing(key, seed, requests, tensors).run();
  fill_keys(chip_rules(arch).format, {seed, kStream + 1}, elements<std::uint8_t>(tensors, "index_cache"));
}

Requests random_requests(const K1Key& key, std::uint64_t seed) {
  enum Kind : std::uint8_t { kNoScores, kFewTasks, kManyTasks, kOneLong, kEdges, kKinds };
  Random source(seed, kStream + 2);
  Requests requests{.q_len = random_q_len(key, source)};
  const std::int64_t count = key.tokens / requests.q_len;
  const auto kind = static_cast<Kind>(seed % kKinds);
  for (std::int64_t i = 0; i < count; ++i) {
    switch (kind) {
      case kFewTasks:
        requests.lengths.push_back(few(source, count));
        break;
      case kManyTasks:
        requests.lengths.push_back(many(source, count));
        break;
      case kEdges:
        requests.lengths.push_back(edge(source));
        break;
      default:
        requests.lengths.push_back(without_scores(source));
    }
  }
  if (kind == kOneLong) {
    constexpr std::uint64_t kSpread = 100;
    requests.lengths[source.below(static_cast<std::uint64_t>(count))] =
        kBlock * static_cast<std::int64_t>(kLongBlocks + source.below(kSpread)) + 1;
  }
  if (seed % kPadPeriod == kPadRemainder) requests.lengths.back() = 0;
  return requests;
}

}  // namespace monojit::kernels::minimax_m3
