#pragma once

#include <optional>

#include "ir/dsl.h"
#include "kernels/common/emit/mailbox.h"
#include "kernels/minimax_m3/k1/emit/timeline.h"
#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {

using namespace monojit::ir;

/// Rows of quantised activations in LDS are 16 bytes further apart than they are long: the 16 columns of an MFMA
/// operand would else fall on one group of banks.
inline constexpr int kActivationPitch = kHidden + 16;

/// Words of `red`, the LDS floats that the stages of one workgroup reduce through. Partials take the place of all
/// before; a barrier lies between.
inline constexpr int kNormWarps = 24;                                  // partial sums of a row's squares
inline constexpr int kRedSums = 0;                                     // [token][kNormWarps]
inline constexpr int kRedMaxima = kRedSums + kMaxTokens * kNormWarps;  // [token][wave]
inline constexpr int kRedWords = 4 * kThreads;                         // MFMA partials: 4 a thread

/// What the stages share: key, arguments (specification §4.1), LDS (§5), mailbox.
class Context {
 public:
  Context(Kernel& kernel, const K1Key& k1_key);

  K1Key key;
  Uniform<Ptr<BFloat16, Global>> ar, res, h_out, g_in, g_q, g_k, g_iq, g_ik, cos_sin, q_out, iq_out;
  Uniform<Ptr<UInt8, Global>> w_qkv, k_cache, v_cache, index_cache;
  Uniform<Ptr<Float32, Global>> s_qkv, k_scale, v_scale;
  Uniform<Ptr<Int32, Global>> positions, slot_mapping;  // low dwords of int64: element 2 i
  Uniform<Ptr<Int64, Global>> tl;

  LdsArray<UInt8> x8;     // [tokens][kActivationPitch] FP8 activations
  LdsArray<Float32> red;  // [kRedWords]
  Mailbox qkv;            // pairs [tokens][projection_rows(key.index_heads)]
  Timeline timeline;

  /// Largest magnitude of a quantised activation. On gfx942 half of gfx950's: its bytes stand for half the value, so
  /// the bytes come out equal and the scales doubled.
  float activation_max;
  /// Largest magnitude of the K, V and index K bytes.
  float cache_max;
};

}  // namespace monojit::kernels::minimax_m3
