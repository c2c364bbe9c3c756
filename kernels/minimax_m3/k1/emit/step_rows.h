#pragma once

#include "kernels/minimax_m3/k1/emit/context.h"

namespace monojit::kernels::minimax_m3 {

/// Blocks of the rows' requests to score, numbered through: row after row, block after block (specification §8.3).
class TaskList {
 public:
  /// `blocks`: lane i has the number of blocks of row i mod 16; rows beyond the step's have none.
  TaskList(const Int32& blocks, int rows);

  const Uniform<Int32>& size() const { return size_; }
  /// The row that a task belongs to.
  Uniform<Int32> row(const Uniform<Int32>& task) const;
  Int32 row(const Int32& task) const;
  /// Which of its row's blocks a task is.
  Uniform<Int32> within_row(const Uniform<Int32>& task, const Uniform<Int32>& row) const;
  Int32 within_row(const Int32& task, const Int32& row) const;

 private:
  int rows_;
  Int32 begin_, end_;  // lane i: first task of row i mod 16, and one behind its last
  Uniform<Int32> size_;
};

/// What a step's rows ask of the scorer (specification §8.2): one row a lane, worked out by every wave for itself. Only
/// the last row of a request has blocks to score.
class StepRows {
 public:
  explicit StepRows(const Context& k);

  /// Visible keys of row i mod 16 in lane i, at least 1.
  const Int32& keys() const { return keys_; }
  /// Whether any block is to be scored.
  Uniform<Bool> any_scored() const;
  /// With four index heads: whether some request is long.
  Uniform<Bool> any_long() const;
  /// Blocks that this rank scores for its own head.
  TaskList own_tasks() const;
  /// Of long requests, the blocks that this rank scores for all heads: those that are its index modulo 4, from
  /// first_shared_block() on.
  TaskList shared_tasks() const;
  static int first_shared_block(const Context& k);

 private:
  const Context& k_;
  Int32 keys_;
  Int32 scored_;  // blocks of a last row to score
  Bool long_;     // last rows of long requests
};

}  // namespace monojit::kernels::minimax_m3
