#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Specification §8.4: index queries as MFMA operands. Row (token * heads + head) of LDS `index_q`, with heads = 1 or
/// the rank's: bf16 [128], normed and rotated, made from the QKV pairs by every workgroup that scores.

/// The own index query of `tokens` tokens (a build-time bound of `most`) from `first`. A barrier follows.
void make_index_queries(Context& k, const Uniform<Int32>& first, const Uniform<Int32>& tokens, int most);
/// All heads of all tokens. A barrier follows.
void make_all_index_queries(Context& k);

/// Which LDS row each of the 16 columns takes.
using QueryOperand = std::array<Vec<BFloat16, 8>, kHeadDim / 32>;
/// MFMA B operands: of chunk s, lane 16 g + column has dims 32 s + 8 g .. + 7 of its column's row.
QueryOperand load_index_query(const Context& k, const Int32& row);

/// LDS row of a token's head. One own head only: rows are tokens.
Int32 own_query_row(const Context& k, const Int32& token);
Int32 query_row(const Int32& token, const Int32& head);

}  // namespace monojit::kernels::minimax_m3
