#include <algorithm>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/reference/mail.h"
#include "kernels/kimi_k3/k2/reference/reference.h"
#include "runtime/hip/emulator_extras.h"
#include "tests/kernels/device/k2_bench.h"

// A row's bits do not depend on the rows beside it.
namespace {

using namespace monojit;
using namespace kernels::kimi_k3;

constexpr std::uint64_t kSeed = 41;
constexpr std::uint16_t kNan = 0x7FC0;
constexpr std::string_view kRowTensors[] = {"core", "prefix", "blocks"};

/// Bytes of row `row` of a tensor with `tokens` rows.
std::span<std::byte> row_of(const kernels::reference::TensorView& view, int tokens, int row) {
  const std::size_t bytes = view.bytes.size() / static_cast<std::size_t>(tokens);
  return view.bytes.subspan(static_cast<std::size_t>(row) * bytes, bytes);
}

using Bytes = std::vector<std::byte>;

/// Row `row` of these tensors on all ranks.
std::vector<Bytes> copy_rows(const tests::K2Bench& bench, std::span<const std::string_view> names, int tokens,
                             int row) {
  std::vector<Bytes> rows;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (const std::string_view name : names) {
      const auto bytes = row_of(bench.rank(rank).view(name), tokens, row);
      rows.emplace_back(bytes.begin(), bytes.end());
    }
  }
  return rows;
}

void restore_rows(const tests::K2Bench& bench, const std::vector<Bytes>& rows, int tokens, int row) {
  auto from = rows.begin();
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (const std::string_view name : kRowTensors) {
      std::ranges::copy(*from++, row_of(bench.rank(rank).view(name), tokens, row).begin());
    }
  }
}

void fill(const tests::K2Bench& bench, std::string_view name, std::uint16_t bits) {
  for (std::size_t rank = 0; rank < kRanks; ++rank) std::ranges::fill(bench.rank(rank).of<std::uint16_t>(name), bits);
}

/// What all ranks have of a row: results, x, routing, latent, experts' intermediates and sums.
struct RowResults {
  std::vector<Bytes> tensors;
  std::vector<std::uint16_t> plain;
  std::vector<std::uint32_t> words;

  bool operator==(const RowResults&) const = default;
};
RowResults results(const tests::K2Bench& bench, const K2Key& key, int row) {
  constexpr std::string_view kResults[] = {"prefix", "out"};
  RowResults found{.tensors = copy_rows(bench, kResults, key.tokens, row), .plain = {}, .words = {}};
  const ScratchLayout s = scratch_layout(key.tokens, key.nblocks);
  const PeerLayout p = peer_layout(key.tokens);
  for (std::size_t number = 0; number < kRanks; ++number) {
    const RankMemory& rank = bench.rank(number);
    const Mail scratch{rank.of<std::byte>("scratch"), tag_of(rank)};
    const Mail peer{rank.of<std::byte>("peer").subspan(half_offset(rank)), tag_of(rank)};
    const auto plain = [&](const kernels::Region& region) {
      const auto all = scratch.row(region);
      const std::size_t columns = all.size() / static_cast<std::size_t>(key.tokens);
      const auto one = all.subspan(static_cast<std::size_t>(row) * columns, columns);
      found.plain.insert(found.plain.end(), one.begin(), one.end());
    };
    const auto pairs = [&](const Mail& mail, const kernels::Region& region, std::int64_t first, std::int64_t count) {
      for (std::int64_t pair = first; pair < first + count; ++pair) found.words.push_back(mail.value(region, pair));
    };
    plain(s.xrow);
    plain(s.ln);
    pairs(scratch, s.route, s.route.at(row, 0), 2 * kTopExperts);
    pairs(scratch, s.inter, s.inter.at(row * kTopExperts, 0), kTopExperts * s.inter.axes[1].extent);
    pairs(peer, p.lat, p.lat.at(row, 0), kLatent / 2);
    for (int source = 0; source < kRanks; ++source) pairs(peer, p.latr, p.latr.at(source, row, 0), kLatent / 2);
  }
  return found;
}

/// Launches of one pair of block count and reset, of the same rows in every width.
class Pair {
 public:
  Pair(tests::K2Bench& bench, int nblocks, bool reset) : bench_(bench), nblocks_(nblocks), reset_(reset) {
    bench.fill(key_of(kMaxTokens), kSeed + static_cast<std::uint64_t>(nblocks));
    for (int row = 0; row < kMaxTokens; ++row) inputs_.push_back(copy_rows(bench, kRowTensors, kMaxTokens, row));
  }

  RowResults alone(int row) {
    launch(1, row);
    return results(bench_, key_of(1), 0);
  }
  /// Whether row `row` of a launch of rows 0 .. `tokens` - 1 has the bits of `alone`.
  bool is_among(int tokens, int row, const RowResults& alone) {
    launch(tokens, 0);
    return has(tokens, row, alone);
  }
  /// The same of a launch that was made already.
  bool has(int tokens, int row, const RowResults& alone) const { return results(bench_, key_of(tokens), row) == alone; }

 private:
  K2Key key_of(int tokens) const { return {.tokens = tokens, .nblocks = nblocks_, .reset = reset_}; }

  void launch(int tokens, int first_row) {
    bench_.group().set_shape(key_of(tokens));
    for (int row = 0; row < tokens; ++row) {
      restore_rows(bench_, inputs_[static_cast<std::size_t>(first_row + row)], tokens, row);
    }
    bench_.group().set_launch(++epoch_, back_slot(kFirstLayer));
    bench_.group().launch(key_of(tokens));
  }

  tests::K2Bench& bench_;
  int nblocks_;
  bool reset_;
  std::vector<std::vector<Bytes>> inputs_;  // by row
  std::int32_t epoch_ = 0;
};

/// All pairs that the model's layers have.
template <class Check>
void for_pairs(Check&& check) {
  tests::K2Bench bench;
  for (int nblocks = 1; nblocks <= kMaxBlocks; ++nblocks) {
    for (const bool reset : {false, true}) {
      if (nblocks == 1 && reset) continue;  // layer 0 is not K2's
      INFO("blocks " << nblocks << " reset " << reset);
      Pair pair(bench, nblocks, reset);
      check(pair);
    }
  }
}

}  // namespace

TEST_CASE("Given a row among others, when it runs alone or beside rows of zeros or NaN, then its bits are the same",
          "[k2]") {
  constexpr int kTokens = 2;
  constexpr int kRow = 1;
  tests::K2Bench bench;
  for (const bool reset : {false, true}) {
    const K2Key many{.tokens = kTokens, .nblocks = 4, .reset = reset};
    const K2Key one{.tokens = 1, .nblocks = 4, .reset = reset};
    const auto run = [&](const K2Key& key, std::int32_t epoch) {
      bench.group().set_launch(epoch, back_slot(kFirstLayer));
      bench.group().launch(key);
    };
    bench.fill(many, kSeed);
    const std::vector<Bytes> inputs = copy_rows(bench, kRowTensors, kTokens, kRow);
    run(many, 1);
    const RowResults among = results(bench, many, kRow);

    for (const std::uint16_t pad : {std::uint16_t{0}, kNan}) {
      if (pad == kNan && reset) continue;  // once: NaNs are slow in the emulator
      for (const std::string_view name : kRowTensors) fill(bench, name, pad);
      restore_rows(bench, inputs, kTokens, kRow);
      run(many, pad == kNan ? 3 : 2);
      CHECK(results(bench, many, kRow) == among);
    }

    bench.group().set_shape(one);
    restore_rows(bench, inputs, 1, 0);
    if (reset) fill(bench, "prefix", kNan);
    run(one, 4);
    CHECK(results(bench, one, 0) == among);
  }
}

// Launches against launches, without the reference: every pair once, every width at least twice, of each width its last
// rows.
TEST_CASE(
    "Given each pair of blocks and reset, when a row runs alone and among 1 to 7 others, then its bits are the same",
    "[k2]") {
  int turn = 0;
  for_pairs([&](Pair& pair) {
    const int tokens = 2 + turn % (kMaxTokens - 1);
    const int row = tokens - 1 - turn / (kMaxTokens - 1) % tokens;
    ++turn;
    INFO("tokens " << tokens << " row " << row);
    CHECK(pair.is_among(tokens, row, pair.alone(row)));
  });
}

TEST_CASE(
    "Given each pair of blocks and reset, when every row runs alone and in every width, then its bits are the same",
    "[.][k2-rows]") {
  for_pairs([&](Pair& pair) {
    std::vector<RowResults> alone;
    for (int row = 0; row < kMaxTokens; ++row) alone.push_back(pair.alone(row));
    for (int tokens = 2; tokens <= kMaxTokens; ++tokens) {
      INFO("tokens " << tokens);
      CHECK(pair.is_among(tokens, 0, alone[0]));
      for (int row = 1; row < tokens; ++row) {
        INFO("row " << row);
        CHECK(pair.has(tokens, row, alone[static_cast<std::size_t>(row)]));
      }
    }
  });
}

TEST_CASE("Given equal inputs, when K2 ran again and again, then all launches and ranks have the same bits", "[k2]") {
  const K2Key key{.tokens = 2, .nblocks = 2, .reset = true};
  tests::K2Bench bench;
  bench.fill(key, kSeed);
  const auto run = [&](std::int32_t epoch, const std::string& seed) {
    runtime::set_emulator_option(bench.group().hip(), "seed", seed);  // workgroups in another order
    bench.group().set_launch(epoch, back_slot(kBlockLayers));
    bench.group().launch(key);
    return read_results(bench.group().memory());
  };
  const GroupResult first = run(1, "1");
  for (int launch = 2; launch <= 3; ++launch) {
    const GroupResult again = run(launch, std::to_string(launch));
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      CHECK(again[rank].out == first[0].out);
      CHECK(again[rank].prefix == first[0].prefix);
    }
  }
  runtime::set_emulator_option(bench.group().hip(), "seed", "0");
}
