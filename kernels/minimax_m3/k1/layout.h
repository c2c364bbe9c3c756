#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/common/argument.h"
#include "kernels/common/health.h"

/// Shapes, task map, scratch and argument list of K1 for tensor parallelism 4 (specification §1, §4). Host and device
/// share nothing else.
namespace monojit::kernels::minimax_m3 {

inline constexpr int kHidden = 6144;
inline constexpr int kHeadDim = 128;
inline constexpr int kRotaryDim = 64;
inline constexpr int kQHeads = 16;  // of this rank
inline constexpr int kMaxTokens = 16;
inline constexpr int kSelfNormTokens = 2;  // up to here every GEMV workgroup normalises for itself

inline constexpr int kWorkgroups = 256;
inline constexpr int kThreads = 512;
inline constexpr int kWaves = 8;

inline constexpr int kRowsPerTask = 16;
inline constexpr int kHeadRowGroups = kHeadDim / kRowsPerTask;
inline constexpr int kChunk = 64;  // k values of one weight load
inline constexpr int kChunks = kHidden / kChunk;
inline constexpr int kChunksPerWave = kChunks / kWaves;

/// Head tasks: q heads 0..15, k, v, own index q, index k.
inline constexpr int kKTask = kQHeads;
inline constexpr int kVTask = kQHeads + 1;
inline constexpr int kIndexQTask = kQHeads + 2;
inline constexpr int kIndexKTask = kQHeads + 3;
inline constexpr int kHeadTasks = kQHeads + 4;

/// Heads in the order of their projection rows: q, k, v, all index queries of the rank, index k.
constexpr int index_q_head(int index_head) { return kQHeads + 2 + index_head; }
constexpr int index_k_head(int index_heads) { return kQHeads + 2 + index_heads; }
constexpr int projection_rows(int index_heads) { return (index_k_head(index_heads) + 1) * kHeadDim; }  // 2560 or 2944
inline constexpr int kMaxIndexHeads = 4;
inline constexpr int kMaxRows = projection_rows(kMaxIndexHeads);

/// Workgroups by role: GEMV tasks of the rank's own heads, a head task each, a norm task for each token, GEMV tasks of
/// the other index queries. Score tasks go to all workgroups, those without another role first.
inline constexpr int kGemvTasks = kHeadRowGroups * kHeadTasks;  // 160
inline constexpr int kFirstHeadWorkgroup = kGemvTasks;
inline constexpr int kFirstNormWorkgroup = kFirstHeadWorkgroup + kHeadTasks;   // 180
inline constexpr int kFirstOtherWorkgroup = kFirstNormWorkgroup + kMaxTokens;  // 196
inline constexpr int kOtherGemvTasks = (kMaxIndexHeads - 1) * kHeadRowGroups;  // 24
inline constexpr int kFirstScoreWorkgroup = kFirstHeadWorkgroup + kHeadTasks;  // score slot 0
static_assert(kFirstOtherWorkgroup + kOtherGemvTasks <= kWorkgroups);

/// Caches: blocks of 128 slots (the engine's), pages of 16 tokens (the attention's).
inline constexpr int kBlock = 128;
inline constexpr int kPageTokens = 16;
inline constexpr int kPageBytes = kPageTokens * kHeadDim;

/// Index scores: up to this many blocks of a request are all selected and none is scored; from kLongBlocks a request
/// is long, and with four index heads its blocks are shared out among the ranks.
inline constexpr int kUnscoredBlocks = 16;
inline constexpr int kLongBlocks = 288;
inline constexpr int kScorePairs = 8192;                                // a row of iscore; blocks of a request at most
inline constexpr int kSharedScorePairs = kScorePairs / kMaxIndexHeads;  // a head's part of it for a long request

/// Scratch: byte offsets of regions. A pair is 8 bytes, {value, tag}.
inline constexpr std::int64_t kPairBytes = 8;
inline constexpr std::int64_t kScratchQkv = 0;             // pairs [tokens][projection_rows]
inline constexpr std::int64_t kScratchX8 = 376832;         // plain FP8 [tokens][6144], above kSelfNormTokens tokens
inline constexpr std::int64_t kScratchHealth = 475136;     // health words of bounded builds (kernels/common/health.h)
inline constexpr std::int64_t kScratchX8Scale = 573440;    // pairs [tokens], above kSelfNormTokens tokens
inline constexpr std::int64_t kScratchHeadsDone = 573568;  // pairs [tokens][kHeadTasks], signal builds
inline constexpr std::int64_t kScratchRowsDone = 576128;   // pairs [tokens], signal builds
inline constexpr std::int64_t kScratchBytes = 576256;
static_assert(kScratchX8 == kPairBytes * kMaxTokens * kMaxRows);
static_assert(kScratchHealth >= kScratchX8 + std::int64_t{kMaxTokens} * kHidden);
static_assert(kScratchHealth + health_bytes(kWorkgroups) <= kScratchX8Scale);
static_assert(kScratchRowsDone == kScratchHeadsDone + kPairBytes * kMaxTokens * kHeadTasks);
static_assert(kScratchBytes == kScratchRowsDone + kPairBytes * kMaxTokens);

/// The regions that a wait can be for, as health records name them.
inline constexpr std::string_view kWaitRegions[] = {"qkv", "x8_scale", "heads_done"};

inline constexpr int kLayerSlots = 128;  // tag = step * kLayerSlots + layer + 1
inline constexpr int kMaxLayer = 126;

inline constexpr int kTimelinePoints = 8;

using enum ArgumentType;
inline constexpr Argument kK1Arguments[] = {
    {"ar", kPointer, 16, false, "bf16 [S][6144]: attention-side activations, summed over ranks"},
    {"res", kPointer, 16, false, "bf16 [S][6144]: residual stream"},
    {"h_out", kPointer, 8, true, "bf16 [S][6144]: new residual stream"},
    {"g_in", kPointer, 16, false, "bf16 [6144]: input norm weight, used as 1 + g"},
    {"w_qkv", kPointer, 16, false, "FP8 [rows][6144]: projection weight, shuffled (specification 4.2)"},
    {"s_qkv", kPointer, 8, false, "f32 [rows]: scale of each projection row"},
    {"g_q", kPointer, 8, false, "bf16 [128]: q norm weight, used as 1 + g"},
    {"g_k", kPointer, 8, false, "bf16 [128]: k norm weight"},
    {"g_iq", kPointer, 8, false, "bf16 [128]: index q norm weight"},
    {"g_ik", kPointer, 8, false, "bf16 [128]: index k norm weight"},
    {"cos_sin", kPointer, 8, false, "bf16 [max_pos][64]: cosines 0..31, sines 32..63"},
    {"positions", kPointer, 8, false, "int64 [S]: row of cos_sin; the low dword counts"},
    {"slot_mapping", kPointer, 8, false, "int64 [S]: cache slot, negative: no insert; the low dword counts"},
    {"k_cache", kPointer, 8, true, "FP8 pages [8][16][16]: K insert"},
    {"v_cache", kPointer, 8, true, "FP8 pages [128][16]: V insert"},
    {"k_scale", kPointer, 8, true, "f32 [pages][16] (scalar_read: [1])"},
    {"v_scale", kPointer, 8, true, "f32 [pages][16] (scalar_read: [1])"},
    {"index_cache", kPointer, 16, true, "FP8 [blocks][128][128]: index K insert and keys of the scores"},
    {"q_out", kPointer, 8, true, "bf16 [S][16][128]: normed, rotated queries"},
    {"iq_out", kPointer, 8, true, "bf16 [S][128]: normed, rotated own index query"},
    {"block_table", kPointer, 8, false, "int32 [S][bt_width]: block ids of each row"},
    {"seq_lens", kPointer, 8, false, "int32 [S]: visible keys of each row"},
    {"bt_width", kInt32, 0, false, "row pitch of block_table, at most 8192"},
    {"q_len", kInt32, 0, false, "rows of a request"},
    {"iscore", kPointer, 16, true, "pairs [16][8192]: block scores"},
    {"scratch", kPointer, 16, true, "576256 bytes, zeroed once: mailboxes"},
    {"step", kPointer, 8, false, "int32 [1]: decode step; (step, layer) is new in every launch"},
    {"layer", kInt32, 0, false, "layer of the model, 0..126"},
    {"tl", kPointer, 8, true, "int64 [256][8]: time stamps; null without timeline"},
};

}  // namespace monojit::kernels::minimax_m3
