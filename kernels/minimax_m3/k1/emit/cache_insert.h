#pragma once

#include "kernels/minimax_m3/k1/emit/half_wave_head.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §7.4: FP8 insert of one token's row at its slot; a negative slot inserts nothing. Layouts (§4.3), with
/// page b and token t of the page:
///   K         byte 2048 b + 256 (d div 16) + 16 t + d mod 16
///   V         byte 2048 b + 16 d + t
///   index K   byte 128 slot + d
///   scales    float 16 b + t
void insert_k(const Context& k, const HeadLane& lane, const Int32& slot, const Vec<Float32, 4>& out);
void insert_v(const Context& k, const HeadLane& lane, const Int32& slot, const Vec<Float32, 4>& e);
void insert_index_k(const Context& k, const HeadLane& lane, const Int32& slot, const Vec<Float32, 4>& out);

}  // namespace monojit::kernels::minimax_m3
