#pragma once

#include "ir/dsl.h"
#include "kernels/common/emit/gemv_tile.h"
#include "kernels/common/emit/mailbox.h"
#include "kernels/minimax_m3/k1/emit/timeline.h"
#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {

using namespace monojit::ir;

/// Rows of LDS that the 16 columns of an MFMA operand come from are 16 bytes further apart than they are long: the
/// columns would else fall on one group of banks.
inline constexpr int kLdsRowPad = 16;
inline constexpr int kActivationPitch = kHidden + kLdsRowPad;
inline constexpr int kIndexQueryPitch = kHeadDim + kLdsRowPad / 2;  // bf16 elements

/// Words of `red`, the LDS floats that the stages of one workgroup reduce through. Each stage's take the place of the
/// one's before; a barrier lies between.
inline constexpr int kNormWarps = 24;                                       // partial sums of a row's squares
inline constexpr int kRedSums = 0;                                          // [token][kNormWarps]
inline constexpr int kRedMaxima = kRedSums + kSelfNormTokens * kNormWarps;  // [token][wave]
inline constexpr int kRedWords = kTileWords * kWaves;                       // MFMA partials
inline constexpr int kRedScores = 0;                                        // [wave][16 columns]

/// What the stages share: key, arguments (specification §4.1), LDS (§5), mailboxes.
class Context {
 public:
  Context(Kernel& kernel, const K1Key& k1_key);

  /// Rows of the projection: the pitch of the QKV pairs.
  int rows() const { return projection_rows(key.index_heads); }
  /// Whether the GEMV workgroups normalise for themselves, or norm workgroups do it for them.
  bool self_norm() const { return key.tokens <= kSelfNormTokens; }
  /// Policy of outputs: a consumer in the same launch reads them from another XCD.
  CachePolicy output_policy() const { return key.signal ? CachePolicy::kDevice : CachePolicy::kDefault; }

  K1Key key;
  Uniform<Ptr<BFloat16, Global>> ar, res, h_out, g_in, g_q, g_k, g_iq, g_ik, cos_sin, q_out, iq_out;
  Uniform<Ptr<UInt8, Global>> w_qkv, k_cache, v_cache, index_cache;
  Uniform<Ptr<Float32, Global>> s_qkv, k_scale, v_scale;
  Uniform<Ptr<Int32, Global>> positions, slot_mapping;  // low dwords of int64: element 2 i
  Uniform<Ptr<Int32, Global>> block_table, seq_lens;
  Uniform<Int32> table_pitch, q_len;  // q_len: 1 in builds without signal

  LdsArray<UInt8> x8;          // [tokens][kActivationPitch] FP8 activations, self_norm() only
  LdsArray<BFloat16> index_q;  // [tokens * index_heads][kIndexQueryPitch], in x8's place
  LdsArray<Float32> red;       // [kRedWords]
  BufferResource scratch;
  Mailbox qkv;         // pairs [tokens][rows()]
  Mailbox x8_scale;    // pairs [tokens]: row of X8 is there, and its scale
  Mailbox heads_done;  // pairs [tokens][kHeadTasks], signal builds
  Mailbox rows_done;   // pairs [tokens], signal builds
  Mailbox iscore;      // pairs [kMaxTokens][kScorePairs]
  Timeline timeline;

  /// Largest magnitude of a quantised activation. On gfx942 half of gfx950's: its bytes stand for half the value, so
  /// the bytes come out equal and the scales doubled.
  float activation_max;
  /// Largest magnitude of the K, V and index K bytes.
  float cache_max;

 private:
  Context(Kernel& kernel, const K1Key& k1_key, const Uniform<Ptr<UInt8, Global>>& scratch_base);
  void bind(const Kernel& kernel);
  void place_lds();
};

/// All stores of the workgroup so far are seen by the device behind this; then flags may follow (specification §3.4).
void drain_stores(const Context& k);

}  // namespace monojit::kernels::minimax_m3
