#pragma once

#include "kernels/minimax_m3/k1/emit/step_rows.h"

namespace monojit::kernels::minimax_m3 {

/// Whose scores the columns of a score task's MFMAs are: of lane l, column l mod 16 (specification §8.5, §8.7).
struct ScoreColumns {
  Int32 query_row;  ///< LDS row of the index query
  Int32 keys;       ///< visible keys of the row
  Int32 pair;       ///< of iscore
  Bool stores;      ///< the lane puts its column
};

/// The rows of the request whose last row is `last`, with the own head.
ScoreColumns own_columns(const Context& k, const StepRows& rows, const Uniform<Int32>& last,
                         const Uniform<Int32>& block);

/// Columns 16 pass .. 16 pass + 15 of all heads, each with all rows of the request.
ScoreColumns shared_columns(const Context& k, const StepRows& rows, const Uniform<Int32>& last,
                            const Uniform<Int32>& block, int pass);

}  // namespace monojit::kernels::minimax_m3
