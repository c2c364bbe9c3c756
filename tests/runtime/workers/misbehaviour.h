#pragma once

namespace monojit::tests {

/// What the misbehaving worker does, as `rows` of example.row_norm.
enum class Misbehaviour {
  kNone = 1,
  kAbort,
  kLlvmGivesUp,
  kAllocate,  ///< more than it may
  kHang,
  kKilled,
  kHalfAnAnswer,
  kNonsense,
  kRefuse,  ///< by an exception, as a compiler that works does
};

}  // namespace monojit::tests
