// Random programs: made from a seed, printed as OpenCL C, and evaluated on the host by their own definition. Every
// operation has one defined result, so that a device's must be equal in every bit (NaNs are all one).
#pragma once

#include <string>
#include <vector>

#include "runtime/emulator/types.h"

namespace monojit::emulator::test {

enum class ValueType : u8 { kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF16, kF32, kF64 };
inline constexpr u32 kValueTypes = 11;
[[nodiscard]] constexpr bool is_float(ValueType type) { return type >= ValueType::kF16; }
[[nodiscard]] constexpr u32 bits_of(ValueType type) {
  constexpr u32 kBits[] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64};
  return kBits[static_cast<u32>(type)];
}

enum class Operation : u8 {
  kConstant,
  kVariable,
  kElement,  ///< of the private array of eight 64-bit words
  kCall,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kSelect,   ///< arguments[0] (kI32) is not 0
  kConvert,  ///< floats to integers saturate; NaN is 0
  kBits,     ///< of a float of the same width
  kFromBits,
  kLess,
  kEqual,
  // integers
  kMinimum,
  kMaximum,
  kRemainder,
  kAnd,
  kOr,
  kXor,
  kNot,
  kShiftLeft,
  kShiftRight,
  kRotate,
  kAddSaturated,
  kSubtractSaturated,
  kMultiplyHigh,
  kHalfSum,
  kPopulation,
  kLeadingZeros,
  // floats
  kFused,
  kRoot,
  kAbsolute,
  kFloor,
  kTruncate,
  kNearest,
};

struct Expression {
  Operation operation = Operation::kConstant;
  ValueType type = ValueType::kI32;
  u64 constant = 0;
  u32 index = 0;  ///< of the variable or function
  std::vector<Expression>
      arguments{};  // NOLINT(readability-redundant-member-init): designated initialisers leave it out
};

enum class StatementKind : u8 {
  kAssign,        ///< variable = expressions[0]
  kStoreElement,  ///< element expressions[0] = expressions[1]
  kIf,            ///< expressions[0] ? bodies[0] : bodies[1]
  kSwitch,        ///< bodies[expressions[0] % 4]
  kLoop,          ///< bodies[0], expressions[0] % 6 times
  kBreakIf,
  kContinueIf,
  kExchangeLds,    ///< variable = what lane (3 * lane + shift) of the workgroup has in it
  kExchangeLanes,  ///< the same with lane + shift, of 32 bits
  kSumInLds,       ///< variable = sum over the workgroup
};

struct Statement {
  StatementKind kind = StatementKind::kAssign;
  u32 variable = 0;
  u32 shift = 0;
  // NOLINTBEGIN(readability-redundant-member-init)
  std::vector<Expression> expressions{};
  std::vector<std::vector<Statement>> bodies{};
  // NOLINTEND(readability-redundant-member-init)
};

/// A function that the device calls: its parameters are variables 0, 1, ... of its body.
struct RandomFunction {
  std::vector<ValueType> parameters;
  Expression body;
};

struct RandomProgram {
  static constexpr u32 kElements = 8, kItems = 64;
  std::vector<ValueType> variables;
  std::vector<RandomFunction> functions;
  std::vector<Statement> statements;

  explicit RandomProgram(u64 seed);
  /// Words that a work-item reads and writes: its variables, then (written only) the array.
  [[nodiscard]] std::size_t inputs() const { return variables.size(); }
  [[nodiscard]] std::size_t outputs() const { return variables.size() + kElements; }
  /// Values of all kinds for the variables of one workgroup, as bits.
  [[nodiscard]] std::vector<u64> random_inputs(u64 seed) const;
  /// A kernel (and its functions) of that name: (global const ulong* in, global ulong* out), 64 work-items.
  [[nodiscard]] std::string text(const std::string& name) const;
  /// What a workgroup writes.
  [[nodiscard]] std::vector<u64> evaluate(const std::vector<u64>& inputs) const;
};

/// What texts need before them once.
[[nodiscard]] std::string random_program_prelude();

}  // namespace monojit::emulator::test
