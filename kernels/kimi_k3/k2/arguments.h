#pragma once

#include <cstdint>

#include "kernels/common/argument.h"

/// Argument list of K2 (specification §3.3) and, last, `tl`: 29 arguments, 224 bytes. Host and kernel share it.
namespace monojit::kernels::kimi_k3 {

inline constexpr Argument kK2Arguments[] = {
    {"core", ArgumentType::kPointer, 16, false, "bf16 [S][1536]: attention output of this rank's heads"},
    {"w_o", ArgumentType::kPointer, 16, false, "bf16 [7168][1536]: output projection, this rank's K slice"},
    {"prefix", ArgumentType::kPointer, 8, true, "bf16 [S][7168]: AttnRes prefix, updated; with reset only written"},
    {"blocks", ArgumentType::kPointer, 8, false, "bf16 [S][>= nblocks][7168]: AttnRes blocks, strides below"},
    {"blk_sm", ArgumentType::kInt32, 0, false, "elements from a token's blocks to the next one's, a multiple of 4"},
    {"blk_sr", ArgumentType::kInt32, 0, false, "elements from a block to the next, a multiple of 4"},
    {"ares_nw", ArgumentType::kPointer, 8, false, "bf16 [7168]: AttnRes norm weight"},
    {"ares_qk", ArgumentType::kPointer, 8, false, "bf16 [7168]: AttnRes score weight"},
    {"in_nw", ArgumentType::kPointer, 8, false, "bf16 [7168]: post-attention norm weight"},
    {"w_gate", ArgumentType::kPointer, 16, false, "bf16 [896][7168]: router; rank r reads rows 112 r .. 112 r + 111"},
    {"bias", ArgumentType::kPointer, 4, false, "f32 [896]: added to the scores for the selection alone"},
    {"w_ld", ArgumentType::kPointer, 16, false,
     "bf16 [3584][7168]: latent down; rank r reads rows 448 r .. 448 r + 447"},
    {"w_sgu", ArgumentType::kPointer, 16, false, "bf16 [1536][7168]: shared expert, 768 gate rows, then 768 up rows"},
    {"w_sd", ArgumentType::kPointer, 16, false, "bf16 [7168][768]: shared expert down, this rank's K slice"},
    {"w13", ArgumentType::kPointer, 16, false, "FP4 [896][768][3584] in tiles (2.2): 384 gate rows, then 384 up rows"},
    {"w13s", ArgumentType::kPointer, 4, false, "E8M0 [896 * 768][112] shuffled (2.3): scales of w13"},
    {"w2", ArgumentType::kPointer, 16, false, "FP4 [896][3584][384] in tiles (2.2)"},
    {"w2s", ArgumentType::kPointer, 4, false,
     "E8M0 [896 * 3584][16] shuffled (2.3): 12 scales of w2, 4 undefined bytes"},
    {"ln_w", ArgumentType::kPointer, 4, false, "bf16 [3584]: latent norm weight"},
    {"w_up", ArgumentType::kPointer, 16, false, "bf16 [896][3584]: latent up, this rank's rows"},
    {"out", ArgumentType::kPointer, 4, true, "bf16 [S][7168]: output of the MoE, the same on every rank"},
    {"scratch", ArgumentType::kPointer, 16, true, "789056 bytes, zeroed once: hand-offs inside the rank"},
    {"peers", ArgumentType::kPointer, 8, false,
     "int64 [8]: address of each rank's peer buffer as mapped here, plus 256"},
    {"rank", ArgumentType::kInt32, 0, false, "this rank, 0..7"},
    {"epoch", ArgumentType::kPointer, 4, false, "int32 [1]: forward pass; (epoch, layer) is new in every launch"},
    {"layer", ArgumentType::kInt32, 0, false, "128 + number of the layer in the model"},
    {"health", ArgumentType::kPointer, 16, true, "int32 [257][8], zeroed once: why a wait gave up"},
    {"alarm", ArgumentType::kPointer, 4, true, "int32 [1]: this rank's flag in rank 0's peer buffer"},
    {"tl", ArgumentType::kPointer, 8, true, "int64 [256][20]: time stamps; null without timeline"},
};

}  // namespace monojit::kernels::kimi_k3
