#pragma once

#include "tests/kernels/device/mutation.h"

/// Damages of the kinds that a hand-off or a numeric rule can lack. Each counts one for each instruction that went or
/// became another.
namespace monojit::tests::damage {

/// ir::barrier() goes: the instruction and the two fences around it.
extern const Damage kNoBarrier;
/// Explicit waits for memory go.
extern const Damage kNoWait;
/// Fences that stand for themselves go.
extern const Damage kNoFence;
/// Buffer stores, or loads and polls, lose their scope bits.
extern const Damage kStoreWithoutScope;
extern const Damage kLoadWithoutScope;
/// Buffer stores with scope bits come late: in front of each the wave sleeps for a second and more, the waves of a
/// workgroup one longer than the other.
extern const Damage kLateStore;
/// The wave sleeps behind the flag of the rows that it stores: nothing that it does next brings them on their way.
extern const Damage kSleepBehindFlag;
/// Both.
extern const Damage kLateRows;
/// Atomic stores become plain ones.
extern const Damage kPlainStore;
/// What rarely happens never does: a wait looks once.
extern const Damage kNeverRetried;
/// Stores of a buffer go.
extern const Damage kNoStore;
/// Rounding to bf16 cuts instead.
extern const Damage kCutBFloat16;
/// Values that were rounded to bf16 on their way stay f32.
extern const Damage kUnrounded;
/// An fma rounds its product too, or leaves its product out.
extern const Damage kTwoRoundings;
extern const Damage kNoProduct;
/// Products of double precision, rounded to float at the end, are floats all along.
extern const Damage kSinglePrecision;
/// The first and the last of a chain of additions, or of MFMAs, change places.
extern const Damage kSumReordered;
extern const Damage kMfmaReordered;
/// Minima and maxima with a constant (a clamp) go.
extern const Damage kNoClamp;
/// Constant masks keep all bits, or none.
extern const Damage kNoMask;
extern const Damage kNothingLeft;
/// Sums with the argument `layer` leave it out.
extern const Damage kNoLayer;

}  // namespace monojit::tests::damage
