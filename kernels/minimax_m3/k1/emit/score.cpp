#include "kernels/minimax_m3/k1/emit/score.h"

#include <functional>
#include <limits>
#include <vector>

#include "kernels/minimax_m3/k1/emit/index_keys.h"
#include "kernels/minimax_m3/k1/emit/index_query.h"
#include "kernels/minimax_m3/k1/emit/score_columns.h"
#include "kernels/minimax_m3/k1/emit/step_rows.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr float kLog2E = 1.44269504F;
constexpr float kMasked = -std::numeric_limits<float>::infinity();
constexpr int kGridWaves = kWorkgroups * kWaves;

// The workgroup's number among the scorers: those without another role come first.
Uniform<Int32> score_slot() { return (workgroup_id() + (kWorkgroups - kFirstScoreWorkgroup)) & (kWorkgroups - 1); }

Float32 tile_maximum(const Context& k, const Vec<Float32, 4>& dots, const Int32& first_key,
                     const ScoreColumns& columns) {
  Float32 largest = kMasked;
  for (int item = 0; item < 4; ++item) {
    // A single row of a request sees all keys of the blocks before its last one, and no other is scored.
    const Float32 value =
        k.key.signal ? select(first_key + item < columns.keys, dots[item], kMasked) : Float32(dots[item]);
    largest = max(largest, value);
  }
  return largest;
}

Int32 first_key_of_tile(const Int32& block, const Int32& tile) {
  return block * kBlock + tile * kTileKeys + lane_id() / kTileKeys * 4;
}

Float32 column_maximum(const Float32& value) {
  const Float32 half = max(value, lane_xor(value, 32));
  return max(half, lane_xor(half, 16));
}

void put_score(const Context& k, const ScoreColumns& columns, const Float32& maximum) {
  If(columns.stores, [&] { k.iscore.put(columns.pair, bitcast<Int32>(maximum * (k.key.sm_scale * kLog2E))); });
}

Uniform<Int32> page_of(const Context& k, const Uniform<Int32>& row, const Uniform<Int32>& block) {
  return load(k.block_table + (row * k.table_pitch + block));
}

// §8.6: a block that may hold a key of this launch waits for all index keys.
void wait_for_new_keys(const Context& k, const StepRows& rows, const Uniform<Int32>& last,
                       const Uniform<Int32>& block) {
  if (!k.key.signal) return;
  If((block + 1) * kBlock > readlane(rows.keys(), last) - kMaxTokens, [&] {
    const Int32 token = min(lane_id(), k.key.tokens - 1);
    k.heads_done.poll(token * kHeadTasks + kIndexKTask);
    fence(Scope::kDevice, Order::kAcquire);
  });
}

// One block a workgroup, one tile of keys a wave.
void score_one_block(Context& k, const StepRows& rows, const TaskList& tasks) {
  const Uniform<Int32> task = score_slot();
  const Uniform<Int32> row = tasks.row(task);
  const Uniform<Int32> block = tasks.within_row(task, row) + k.key.init_blocks;
  const Uniform<Int32> page = page_of(k, row, block);
  wait_for_new_keys(k, rows, row, block);
  const RawTile raw = load_key_tile(k, page, wave_id());
  sched_barrier();  // keys are on their way while the index query is made
  make_index_queries(k, row - (k.q_len - 1), k.q_len, k.key.signal ? k.key.tokens : 1);

  const ScoreColumns columns = own_columns(k, rows, row, block);
  const auto dots = multiply(key_operand(raw), load_index_query(k, columns.query_row));
  const Float32 largest = column_maximum(tile_maximum(k, dots, first_key_of_tile(block, wave_id()), columns));
  If(lane_id() < kTileColumns, [&] { store(k.red + (wave_id() * kTileColumns + lane_id() + kRedScores), largest); });
  barrier();
  If(wave_id() == 0, [&] {
    Float32 maximum = kMasked;
    for (int wave = 0; wave < kWaves; ++wave) {
      maximum = max(maximum, load(k.red + (lane_id() % kTileColumns + (wave * kTileColumns + kRedScores))));
    }
    put_score(k, columns, maximum);
  });
}

/// How a wave's blocks come from a list: their places among the row's blocks and the columns of each pass.
struct BlockWalk {
  int first_block;
  int stride;
  int passes;
  std::function<ScoreColumns(const Uniform<Int32>& row, const Uniform<Int32>& block, int pass)> columns;
};

void score_block(Context& k, const Uniform<Int32>& row, const Uniform<Int32>& block, const Uniform<Int32>& page,
                 const BlockWalk& walk) {
  std::vector<RawTile> raw;
  for (int tile = 0; tile < kTiles; ++tile) raw.push_back(load_key_tile(k, page, tile));
  sched_barrier();  // all in flight before the first is used
  std::vector<KeyOperand> keys;
  for (const RawTile& tile : raw) keys.push_back(key_operand(tile));
  for (int pass = 0; pass < walk.passes; ++pass) {
    const auto score_pass = [&] {
      const ScoreColumns columns = walk.columns(row, block, pass);
      const QueryOperand query = load_index_query(k, columns.query_row);
      Float32 largest = kMasked;
      for (int tile = 0; tile < kTiles; ++tile) {
        largest = max(largest, tile_maximum(k, multiply(keys[tile], query), first_key_of_tile(block, tile), columns));
      }
      put_score(k, columns, column_maximum(largest));
    };
    if (pass == 0) {
      score_pass();
    } else {
      If(k.q_len * kMaxIndexHeads > pass * kTileColumns, score_pass);
    }
  }
}

// One block a wave, block after block; lane i knows the i-th of them. A wave never has more than 64: the grid's waves
// times 64 are all blocks that iscore has room for.
void score_blocks(Context& k, const StepRows& rows, const TaskList& tasks, const BlockWalk& walk) {
  static_assert(kGridWaves * 64 >= kMaxTokens * kScorePairs);
  const Uniform<Int32> first = score_slot() + wave_id() * kWorkgroups;
  If(first < tasks.size(), [&] {
    const Int32 task = min(first + lane_id() * kGridWaves, tasks.size() - 1);
    const Int32 row = tasks.row(task);
    const Int32 block = tasks.within_row(task, row) * walk.stride + walk.first_block;
    const Int32 page = load(k.block_table + (row * k.table_pitch + block));
    For(0, shr_logical(tasks.size() - first + (kGridWaves - 1), 11), [&](const Uniform<Int32>& i) {
      const Uniform<Int32> its_row = readlane(row, i);
      const Uniform<Int32> its_block = readlane(block, i);
      wait_for_new_keys(k, rows, its_row, its_block);
      score_block(k, its_row, its_block, readlane(page, i), walk);
    });
  });
}

void score_own(Context& k, const StepRows& rows) {
  const TaskList tasks = rows.own_tasks();
  If(tasks.size() <= kWorkgroups, [&] {
    If(score_slot() < tasks.size(), [&] { score_one_block(k, rows, tasks); });
  }).Else([&] {
    make_index_queries(k, 0, k.key.tokens, k.key.tokens);
    const BlockWalk walk{
        .first_block = k.key.init_blocks,
        .stride = 1,
        .passes = 1,
        .columns = [&](const auto& row, const auto& block, int) { return own_columns(k, rows, row, block); }};
    score_blocks(k, rows, tasks, walk);
  });
}

// §8.7: this rank's share of long requests' blocks, for all heads.
void score_shared(Context& k, const StepRows& rows) {
  IfRarely(rows.any_long(), [&] {
    const TaskList tasks = rows.shared_tasks();
    barrier();  // the own heads' queries are read no more
    make_all_index_queries(k);
    const BlockWalk walk{.first_block = StepRows::first_shared_block(k),
                         .stride = kMaxIndexHeads,
                         .passes = k.key.signal ? (k.key.tokens * kMaxIndexHeads + kTileColumns - 1) / kTileColumns : 1,
                         .columns = [&](const auto& row, const auto& block, int pass) {
                           return shared_columns(k, rows, row, block, pass);
                         }};
    score_blocks(k, rows, tasks, walk);
  });
}

}  // namespace

void score_tasks(Context& k) {
  const StepRows rows(k);
  If(rows.any_scored(), [&] {
    score_own(k, rows);
    if (k.key.index_heads > 1) score_shared(k, rows);
  });
}

}  // namespace monojit::kernels::minimax_m3
