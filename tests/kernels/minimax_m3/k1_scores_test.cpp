#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/fp8.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"
#include "kernels/minimax_m3/k1/reference/scorer.h"

// Scores of whole launches of the reference, against dot products that are worked out here.
namespace monojit::kernels::minimax_m3 {
namespace {

using reference::BFloat16Bits;
using reference::elements;
using reference::MatrixModel;

constexpr MatrixModel kModels[] = {MatrixModel::kCdna3, MatrixModel::kFmaChain, MatrixModel::kExact};
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kScale = std::bit_cast<float>(0x3E0293EEU);  // of the default sm_scale

/// Data on which every sum is exact: index keys of 0 but for what a test puts there.
K1Case quiet_case(const K1Key& key, const Requests& requests, const char* arch = "gfx950") {
  K1Case a_case(key, arch);
  a_case.set_requests(requests);
  std::ranges::fill(a_case.of<std::uint8_t>("index_cache"), std::uint8_t{0});
  return a_case;
}

std::uint8_t code(const K1Case& a_case, float value) {
  return reference::fp8_bits(a_case.arch == "gfx950" ? reference::Fp8Format::kOcp : reference::Fp8Format::kFnuz, value);
}

float index_q(const std::vector<Tensor>& after, int row, int d) {
  return reference::bf16_value(elements<BFloat16Bits>(after, "iq_out")[static_cast<std::size_t>(row * kHeadDim + d)]);
}

TEST_CASE("the score scale is sm_scale times log2 e, rounded") {
  CHECK(index_scale(K1Key{}.sm_scale) == kScale);
  CHECK(index_scale(0.5F) == static_cast<float>(0.5 * 1.4426950216293335));
}

TEST_CASE("a key of one element scores its dim of the index query, in every model and on both chips") {
  for (const char* arch : {"gfx950", "gfx942"}) {
    K1Case a_case = quiet_case({.tokens = 2}, {.lengths = {20 * 128, 0}}, arch);
    const int dims[] = {0, 7, 8, 31, 32, 63, 64, 127};
    for (int block = 0; block < 8; ++block) {
      for (const std::int64_t key : {0, 127}) {
        // One of the two is positive.
        a_case.index_key(0, 128 * block + key)[dims[block]] = code(a_case, key == 0 ? 2.0F : -2.0F);
      }
    }
    for (const MatrixModel model : kModels) {
      const auto after = a_case.expected(model);
      for (int block = 0; block < 8; ++block) {
        CHECK(score(after, 0, block) == 2 * std::fabs(index_q(after, 0, dims[block])) * kScale);
      }
      CHECK(score(after, 0, 8) == 0);
    }
  }
}

TEST_CASE("scored pairs are those of the scored blocks of live rows, everything else stays") {
  const K1Case a_case = quiet_case({.tokens = 4, .init_blocks = 2}, {.lengths = {2049, 2048, 0, 20 * 128}});
  const auto after = a_case.expected();
  std::vector<std::int64_t> want;
  for (std::int64_t block = 2; block < 16; ++block) want.push_back(block);
  for (std::int64_t block = 2; block < 19; ++block) want.push_back(std::int64_t{3} * 8192 + block);
  CHECK(scored_pairs(after) == want);
  const auto before_words = elements<std::uint32_t>(a_case.tensors, "iscore");
  const auto words = elements<std::uint32_t>(after, "iscore");
  std::size_t changed = 0;
  for (std::size_t i = 0; i < words.size(); ++i) changed += words[i] != before_words[i];
  CHECK(changed == 2 * want.size());
}

TEST_CASE("a build without scorer leaves iscore alone") {
  const K1Case a_case = quiet_case({.scorer = false}, {.lengths = {4096}});
  CHECK(scored_pairs(a_case.expected()).empty());
}

TEST_CASE("each row of a request sees its own keys, and none at all gives minus infinity") {
  K1Case a_case = quiet_case({.tokens = 4, .signal = true}, {.q_len = 4, .lengths = {17 * 128 + 3}});
  // Rows see 2176 .. 2179 keys, so all of block 15 for each; then row 1 is told that it sees less.
  a_case.of<std::int32_t>("seq_lens")[1] = 15 * 128 + 5;
  a_case.of<std::int32_t>("seq_lens")[0] = 15 * 128;
  for (int d = 0; d < kHeadDim; ++d) a_case.index_key(3, 15 * 128 + 5)[d] = code(a_case, d % 2 == 0 ? 1.0F : -1.0F);
  for (int d = 0; d < kHeadDim; ++d) a_case.index_key(3, 15 * 128 + 6)[d] = code(a_case, d % 2 == 0 ? -1.0F : 1.0F);
  const auto after = a_case.expected();
  for (int row = 0; row < 4; ++row) {
    double dot = 0;
    for (int d = 0; d < kHeadDim; ++d) dot += (d % 2 == 0 ? 1 : -1) * static_cast<double>(index_q(after, row, d));
    if (row == 0) CHECK(score(after, row, 15) == kMinusInfinity);
    if (row == 1) CHECK(score(after, row, 15) == 0);  // the first five keys are zeros
    if (row >= 2) CHECK(std::fabs(score(after, row, 15) - std::fabs(dot) * kScale) < 1e-5);
  }
}

TEST_CASE("a NaN key spoils the scores of the rows that see it") {
  K1Case a_case = quiet_case({.tokens = 2, .signal = true}, {.q_len = 2, .lengths = {17 * 128 + 100}});
  a_case.of<std::int32_t>("seq_lens")[0] = 3 * 128 + 7;
  a_case.index_key(1, 3 * 128 + 7)[77] = 0x7F;
  const auto after = a_case.expected();
  CHECK(score(after, 0, 3) == 0);
  CHECK(std::isnan(score(after, 1, 3)));
  CHECK(score(after, 1, 2) == 0);
}

TEST_CASE("a NaN query scores NaN but where no key is visible") {
  K1Case a_case = quiet_case({.tokens = 2, .signal = true}, {.q_len = 2, .lengths = {17 * 128 + 100}});
  a_case.set("ar", 5, std::nanf(""));
  a_case.of<std::int32_t>("seq_lens")[0] = 3 * 128;
  const auto after = a_case.expected();
  CHECK(std::isnan(score(after, 0, 2)));
  CHECK(score(after, 0, 3) == kMinusInfinity);
  CHECK(score(after, 1, 2) == 0);
}

TEST_CASE("with signal, scores see the keys that this launch inserts") {
  // Rows see 2174 .. 2177 keys: three new keys are the last of block 16, which is scored, one is the first of block 17.
  K1Case a_case = quiet_case({.tokens = 4, .signal = true}, {.q_len = 4, .lengths = {17 * 128 + 1}});
  const auto after = a_case.expected();
  for (int row = 2; row < 4; ++row) {
    double largest = 0;  // of all-zero keys
    for (int inserted = 0; inserted <= 2; ++inserted) {
      const auto new_slot = elements<std::int64_t>(a_case.tensors, "slot_mapping")[inserted];
      const auto bytes =
          elements<std::uint8_t>(after, "index_cache").subspan(static_cast<std::size_t>(new_slot) * 128, 128);
      double dot = 0;
      for (int d = 0; d < kHeadDim; ++d) {
        dot += static_cast<double>(reference::fp8_value(reference::Fp8Format::kOcp, bytes[d])) * index_q(after, row, d);
      }
      largest = std::max(largest, dot);
    }
    CHECK(std::fabs(score(after, row, 16) - largest * kScale) < 1e-4);
    CHECK(score(after, row, 15) == 0);
  }
}

TEST_CASE("a long request is scored for all heads at [head][block / 4], with the other heads' projection") {
  constexpr int kOwn = 2;
  K1Case a_case = quiet_case({.tokens = 2, .index_heads = 4, .index_own = kOwn}, {.lengths = {300 * 128, 2049}});
  const std::int64_t block = 4 * 20 + kOwn;
  for (int d = 0; d < kHeadDim; ++d) a_case.index_key(0, 128 * block + 9)[d] = code(a_case, d == 70 ? 4.0F : 0.0F);
  for (int d = 0; d < kHeadDim; ++d) a_case.index_key(0, 128 * block + 10)[d] = code(a_case, d == 70 ? -4.0F : 0.0F);
  const auto after = a_case.expected();
  std::set<std::int64_t> want;
  for (int head = 0; head < 4; ++head) {
    for (std::int64_t own = kOwn; own < 299; own += 4) want.insert(head * 2048 + own / 4);
  }
  for (std::int64_t b = 0; b < 16; ++b) want.insert(8192 + b);
  const auto pairs = scored_pairs(after);
  CHECK(std::set<std::int64_t>(pairs.begin(), pairs.end()) == want);

  for (int head = 0; head < 4; ++head) {
    // Dim 70 is not rotated: e / rms * (1 + g).
    double squares = 0;
    for (int d = 0; d < kHeadDim; ++d) {
      const double e = qkv_value(after, 0, (18 + head) * kHeadDim + d);
      squares += e * e;
    }
    const double q = qkv_value(after, 0, (18 + head) * kHeadDim + 70) / std::sqrt(squares / 128 + 1e-6) *
                     (1.0 + a_case.get("g_iq", 70));
    const double want_score = 4 * std::fabs(q) * kScale;
    CHECK(std::fabs(score(after, 0, head * 2048 + block / 4) - want_score) <= want_score / 200);
    CHECK(qkv_tag(after, 1, (18 + head) * kHeadDim) == qkv_tag(after, 0, 0));
  }
}

TEST_CASE("pages are found through the table, whichever block they are") {
  K1Case a_case = quiet_case({.tokens = 1}, {.lengths = {20 * 128}});
  for (int d = 0; d < kHeadDim; ++d) a_case.index_key(0, 128 * 5)[d] = code(a_case, 1);
  for (int d = 0; d < kHeadDim; ++d) a_case.index_key(0, 128 * 5 + 1)[d] = code(a_case, -1);
  const float of_block_5 = score(a_case.expected(), 0, 5);
  CHECK(of_block_5 > 0);
  const auto table = a_case.of<std::int32_t>("block_table");
  table[11] = table[5];
  CHECK(score(a_case.expected(), 0, 11) == of_block_5);
  std::swap(table[5], table[6]);
  CHECK(score(a_case.expected(), 0, 5) == 0);
  CHECK(score(a_case.expected(), 0, 6) == of_block_5);
}

/// Scores of order-sensitive keys, with dim d moved to where source(d) stood.
class OrderSensitive {
 public:
  OrderSensitive() : case_({.tokens = 1}) {
    case_.set_requests({.lengths = {kBlocks * 128}});
    case_.make_score_order_sensitive(kSeed);
    const auto after = case_.expected();
    const auto own = elements<BFloat16Bits>(after, "iq_out");
    query_.dims.assign(own.begin(), own.end());
    query_.keys = kBlocks * 128;
  }

  const IndexQuery& query() const { return query_; }

  std::vector<float> run(MatrixModel model, int (*source)(int)) const {
    IndexQuery query = query_;
    for (int d = 0; d < kHeadDim; ++d) query.dims[d] = query_.dims[source(d)];
    BlockScorer scorer(std::span(&query, 1), chip_rules("gfx950"), model);
    const auto keys = elements<std::uint8_t>(case_.tensors, "index_cache");
    std::vector<float> scores;
    for (std::int64_t block = 0; block < kBlocks; ++block) {
      std::vector<std::uint8_t> moved(std::size_t{kBlock} * kHeadDim);
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const std::size_t key = i / kHeadDim * kHeadDim;
        moved[i] = keys[static_cast<std::size_t>(block) * moved.size() + key + source(static_cast<int>(i - key))];
      }
      scores.push_back(scorer.maxima(moved, block)[0]);
    }
    return scores;
  }

 private:
  static constexpr std::uint64_t kSeed = 3;
  static constexpr std::int64_t kBlocks = 60;
  K1Case case_;
  IndexQuery query_;
};

double changed(const std::vector<float>& a, const std::vector<float>& b) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differing += a[i] != b[i];
  return static_cast<double>(differing) / static_cast<double>(a.size());
}

constexpr double kExchangeShare = 0.1;

TEST_CASE("order-sensitive keys tell orders of the scores' sums and the matrix models apart") {
  const OrderSensitive data;
  for (const BFloat16Bits dim : data.query().dims) CHECK(dim == data.query().dims[0]);
  const auto same = [](int d) { return d; };
  const auto exchanged_chunks = [](int d) { return d / 32 == 1 || d / 32 == 2 ? 96 - d / 32 * 32 + d % 32 : d; };
  const auto exchanged_parts = [](int d) { return d ^ 8; };
  for (const MatrixModel model : kModels) {
    const auto right = data.run(model, same);
    CHECK(changed(right, data.run(model, exchanged_chunks)) >= kExchangeShare);
    // An MFMA of the exact model has no order inside.
    const double parts = changed(right, data.run(model, exchanged_parts));
    CHECK((model == MatrixModel::kExact ? parts == 0 : parts >= kExchangeShare));
  }
  const auto cdna3 = data.run(MatrixModel::kCdna3, same);
  CHECK(changed(cdna3, data.run(MatrixModel::kFmaChain, same)) >= kExchangeShare);
  CHECK(changed(cdna3, data.run(MatrixModel::kExact, same)) >= kExchangeShare);
}

TEST_CASE("gfx942 chains two MFMAs of 16 where gfx950 has one of 32") {
  const auto exact_score = [](const char* arch, bool early) {
    // c reaches 1 in the first part; 2^-24 twice in one instruction is a carry, in two it is lost both times.
    IndexQuery query{.dims = std::vector<BFloat16Bits>(kHeadDim), .keys = 1};
    query.dims[0] = reference::bf16_bits(1);
    query.dims[32] = reference::bf16_bits(0x1p-24F);
    query.dims[early ? 41 : 36] = reference::bf16_bits(0x1p-24F);  // element 1 of group 1, or element 4 of group 0
    const Chip chip = chip_rules(arch);
    std::vector<std::uint8_t> keys(std::size_t{kBlock} * kHeadDim, reference::fp8_bits(chip.format, 1));
    return BlockScorer(std::span(&query, 1), chip, MatrixModel::kExact).maxima(keys, 0)[0];
  };
  CHECK(exact_score("gfx950", true) == 1 + 0x1p-23F);
  CHECK(exact_score("gfx950", false) == 1 + 0x1p-23F);
  CHECK(exact_score("gfx942", true) == 1 + 0x1p-23F);
  CHECK(exact_score("gfx942", false) == 1);
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
