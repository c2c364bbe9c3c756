// Random programs and their inputs.
#include <bit>
#include <random>

#include "tests/emulator/programs/random_program.h"

namespace monojit::emulator::test {
namespace {

using Type = ValueType;
using Op = Operation;

constexpr Op kAny[] = {Op::kAdd, Op::kSubtract, Op::kMultiply, Op::kDivide, Op::kNegate};
// Minima of floats are left out: LLVM makes v_min of `x < y ? x : y`, which takes another zero when both are zeros.
constexpr Op kOfIntegers[] = {Op::kMinimum,      Op::kMaximum, Op::kRemainder,    Op::kAnd,
                              Op::kOr,           Op::kXor,     Op::kNot,          Op::kShiftLeft,
                              Op::kShiftRight,   Op::kRotate,  Op::kAddSaturated, Op::kSubtractSaturated,
                              Op::kMultiplyHigh, Op::kHalfSum, Op::kPopulation,   Op::kLeadingZeros};
constexpr Op kOfFloats[] = {Op::kFused, Op::kRoot, Op::kAbsolute, Op::kFloor, Op::kTruncate, Op::kNearest};

u32 arity(Op op) {
  switch (op) {
    case Op::kNegate:
    case Op::kNot:
    case Op::kPopulation:
    case Op::kLeadingZeros:
    case Op::kRoot:
    case Op::kAbsolute:
    case Op::kFloor:
    case Op::kTruncate:
    case Op::kNearest:
      return 1;
    case Op::kFused:
      return 3;
    default:
      return 2;
  }
}

Type bits_type(Type type) { return type == Type::kF16 ? Type::kU16 : type == Type::kF32 ? Type::kU32 : Type::kU64; }

class Maker {
 public:
  Maker(RandomProgram& program, u64 seed) : program_(program), engine_(seed) {}

  void run() {
    constexpr u32 kFunctions = 2, kStatements = 14, kExtraIntegers = 3;
    for (u32 i = 0; i < kFunctions; ++i) program_.functions.push_back(function());
    for (u32 i = 0; i < kValueTypes; ++i) variables_.push_back(static_cast<Type>(i));
    for (u32 i = 0; i < kExtraIntegers; ++i) variables_.push_back(i == 0 ? Type::kU32 : Type::kI32);
    program_.variables = variables_;
    calls_ = true;
    for (u32 i = 0; i < kStatements; ++i) program_.statements.push_back(top_statement());
  }

  u64 bits(Type type) {
    const u64 random = engine_();
    const u64 mask = ~u64{0} >> (64 - bits_of(type));
    if (!is_float(type)) {
      constexpr u64 kCorners[] = {0, 1, 2, ~u64{0}, 0x80, 0x7f, 0x8000, 0x7fff, 0x80000000, 0x7fffffff, u64{1} << 63};
      const u32 way = below(4);
      return (way == 0 ? kCorners[below(std::size(kCorners))] : way == 1 ? random >> below(64) : random) & mask;
    }
    if (below(6) == 0) return random & mask;  // denormals, infinities and NaNs among them
    constexpr double kCorners[] = {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 65504.0, 1e-7, 3e9, -2147483648.0};
    const double value = below(3) == 0 ? kCorners[below(std::size(kCorners))]
                                       : static_cast<double>(static_cast<i64>(random)) * 0x1p-60 * (1 << below(16));
    if (type == Type::kF16) return std::bit_cast<u16>(static_cast<_Float16>(value));
    if (type == Type::kF32) return std::bit_cast<u32>(static_cast<float>(value));
    return std::bit_cast<u64>(value);
  }

 private:
  u32 below(std::size_t limit) { return static_cast<u32>(engine_() % limit); }
  Type any_type() { return static_cast<Type>(below(kValueTypes)); }
  Type any_integer() { return static_cast<Type>(below(8)); }

  RandomFunction function() {
    RandomFunction made;
    for (u32 i = 0; i < 3; ++i) made.parameters.push_back(any_type());
    variables_ = made.parameters;
    calls_ = false;
    made.body = expression(any_type(), 4);
    return made;
  }

  Expression leaf(Type type) {
    std::vector<u32> fitting;
    for (u32 i = 0; i < variables_.size(); ++i) {
      if (variables_[i] == type) fitting.push_back(i);
    }
    if (fitting.empty() || below(4) == 0) return {.type = type, .constant = bits(type)};
    return {.operation = Op::kVariable, .type = type, .index = fitting[below(fitting.size())]};
  }

  Expression with(Op op, Type type, std::vector<Expression> arguments, u32 index = 0) {
    return {.operation = op, .type = type, .index = index, .arguments = std::move(arguments)};
  }

  Expression conversion(Type type, u32 depth) {
    Type from = any_type();
    // Wide integers to half have no single rounding in OpenCL C.
    if (type == Type::kF16 && !is_float(from) && bits_of(from) > 16) from = Type::kI16;
    return with(Op::kConvert, type, {expression(from, depth)});
  }

  Expression special(Type type, u32 depth) {
    switch (below(6)) {
      case 0:
        return with(Op::kSelect, type, {condition(depth), expression(type, depth), expression(type, depth)});
      case 1:
        if (is_float(type)) return with(Op::kFromBits, type, {expression(bits_type(type), depth)});
        if (type == Type::kU16) return with(Op::kBits, type, {expression(Type::kF16, depth)});
        if (type == Type::kU32) return with(Op::kBits, type, {expression(Type::kF32, depth)});
        if (type == Type::kU64) return with(Op::kBits, type, {expression(Type::kF64, depth)});
        return conversion(type, depth);
      case 2:
        if (type == Type::kU64 && calls_) return with(Op::kElement, type, {expression(Type::kU32, depth)});
        return conversion(type, depth);
      case 3:
        return call(type, depth);
      default:
        return conversion(type, depth);
    }
  }

  Expression call(Type type, u32 depth) {
    for (u32 f = 0; calls_ && f < program_.functions.size(); ++f) {
      const RandomFunction& function = program_.functions[f];
      if (function.body.type != type) continue;
      std::vector<Expression> arguments;
      for (const Type parameter : function.parameters) arguments.push_back(expression(parameter, depth / 2));
      return with(Op::kCall, type, std::move(arguments), f);
    }
    return conversion(type, depth);
  }

  Expression condition(u32 depth) {
    const Type type = any_type();
    return with(below(4) == 0 ? Op::kEqual : Op::kLess, Type::kI32,
                {expression(type, depth / 2), expression(type, depth / 2)});
  }

  Expression expression(Type type, u32 depth) {
    if (depth == 0 || below(8) == 0) return leaf(type);
    if (below(3) == 0) return special(type, depth - 1);
    const bool common = below(2) == 0;
    const Op op = common           ? kAny[below(std::size(kAny))]
                  : is_float(type) ? kOfFloats[below(std::size(kOfFloats))]
                                   : kOfIntegers[below(std::size(kOfIntegers))];
    // LLVM 22 takes the carry of a sum's two additions at once when it saturates 64-bit sums.
    const bool miscompiled = bits_of(type) == 64 && (op == Op::kAddSaturated || op == Op::kSubtractSaturated);
    if (miscompiled) return leaf(type);
    std::vector<Expression> arguments;
    for (u32 i = 0; i < arity(op); ++i) arguments.push_back(expression(type, depth - 1));
    return with(op, type, std::move(arguments));
  }

  std::vector<Statement> block(u32 depth, bool in_loop) {
    std::vector<Statement> made;
    for (u32 i = 0, count = 1 + below(3); i < count; ++i) made.push_back(statement(depth, in_loop));
    return made;
  }

  Statement assignment() {
    const u32 variable = below(variables_.size());
    return {.variable = variable, .expressions = {expression(variables_[variable], 3)}};
  }

  Statement statement(u32 depth, bool in_loop) {
    const u32 way = below(8);
    if (in_loop && way == 0)
      return {.kind = below(2) == 0 ? StatementKind::kBreakIf : StatementKind::kContinueIf,
              .expressions = {condition(2)}};
    if (way == 1)
      return {.kind = StatementKind::kStoreElement,
              .expressions = {expression(Type::kU32, 2), expression(Type::kU64, 3)}};
    if (depth == 0 || way > 4) return assignment();
    if (way == 2)
      return {.kind = StatementKind::kIf,
              .expressions = {condition(3)},
              .bodies = {block(depth - 1, in_loop), block(depth - 1, in_loop)}};
    if (way == 3)
      return {
          .kind = StatementKind::kLoop, .expressions = {expression(Type::kU32, 2)}, .bodies = {block(depth - 1, true)}};
    std::vector<std::vector<Statement>> cases;
    for (u32 i = 0; i < 4; ++i) cases.push_back(block(0, false));
    return {.kind = StatementKind::kSwitch, .expressions = {expression(Type::kU32, 2)}, .bodies = std::move(cases)};
  }

  /// All work-items come here: they may meet.
  Statement top_statement() {
    if (below(5) != 0) return statement(2, false);
    constexpr StatementKind kMeetings[] = {StatementKind::kExchangeLds, StatementKind::kExchangeLanes,
                                           StatementKind::kSumInLds};
    const StatementKind kind = kMeetings[below(std::size(kMeetings))];
    const Type wanted = kind == StatementKind::kExchangeLds ? Type::kU64 : Type::kU32;
    u32 variable = 0;
    while (variables_[variable] != wanted) ++variable;
    return {.kind = kind, .variable = variable, .shift = below(64)};
  }

  RandomProgram& program_;
  std::mt19937_64 engine_;
  std::vector<Type> variables_;
  bool calls_ = false;
};

}  // namespace

RandomProgram::RandomProgram(u64 seed) { Maker(*this, seed).run(); }

std::vector<u64> RandomProgram::random_inputs(u64 seed) const {
  RandomProgram unused = *this;
  Maker maker(unused, seed);
  std::vector<u64> values;
  for (u32 item = 0; item < kItems; ++item) {
    for (const Type type : variables) values.push_back(maker.bits(type));
  }
  return values;
}

}  // namespace monojit::emulator::test
