// What random programs mean.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "tests/emulator/programs/random_program.h"

namespace monojit::emulator::test {
namespace {

using Type = ValueType;
using Op = Operation;
using Half = _Float16;
__extension__ using Wide = __int128;

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half>;
template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T>;
/// A type that holds T's values and whose functions the library has.
template <class T>
using Host = std::conditional_t<kIsHalf<T>, float, T>;

template <class T>
T as(u64 word) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<T>(static_cast<u8>(word));
  if constexpr (sizeof(T) == 2) return std::bit_cast<T>(static_cast<u16>(word));
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<u32>(word));
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(word);
}
template <class T>
u64 word_of(T value) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<u8>(value);
  if constexpr (sizeof(T) == 2) return std::bit_cast<u16>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<u32>(value);
  if constexpr (sizeof(T) == 8) return std::bit_cast<u64>(value);
}

template <class Function>
u64 with_type(Type type, Function function) {
  switch (type) {
    case Type::kI8:
      return function(i8{});
    case Type::kU8:
      return function(u8{});
    case Type::kI16:
      return function(i16{});
    case Type::kU16:
      return function(u16{});
    case Type::kI32:
      return function(i32{});
    case Type::kU32:
      return function(u32{});
    case Type::kI64:
      return function(i64{});
    case Type::kU64:
      return function(u64{});
    case Type::kF16:
      return function(Half{});
    case Type::kF32:
      return function(float{});
    case Type::kF64:
      return function(double{});
  }
  throw std::logic_error("no such type");
}

/// Rounded once: the double sum is made odd if it is not exact, so that rounding it to half sees which side it is on.
Half fused(Half a, Half b, Half c) {
  const double product = static_cast<double>(a) * static_cast<double>(b), addend = static_cast<double>(c);
  const double sum = product + addend;
  if (!std::isfinite(sum)) return static_cast<Half>(sum);
  const double part = sum - product, error = (product - (sum - part)) + (addend - part);
  if (error == 0 || (std::bit_cast<u64>(sum) & 1) != 0) return static_cast<Half>(sum);
  return static_cast<Half>(std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL));
}

template <class T>
T saturated(Wide value) {
  return static_cast<T>(std::clamp<Wide>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <class To, class From>
To converted(From from) {
  if constexpr (kIsInteger<To> && !kIsInteger<From>) {
    const auto value = static_cast<double>(from);
    if (std::isnan(value)) return 0;
    // Powers of two: the first value above and the least one.
    constexpr auto kLow = static_cast<double>(std::numeric_limits<To>::min());
    const double high = std::ldexp(1.0, std::numeric_limits<To>::digits);
    if (value >= high) return std::numeric_limits<To>::max();
    return value <= kLow ? std::numeric_limits<To>::min() : static_cast<To>(value);
  } else {
    return static_cast<To>(from);
  }
}

template <class T>
T integer_operation(Op op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 kBits = 8 * sizeof(T);
  const auto x = static_cast<u64>(a), y = static_cast<u64>(b);  // sign extended
  const u32 turn = static_cast<u32>(y) % kBits;
  const bool no_quotient = b == 0 || b == static_cast<T>(-1);
  switch (op) {
    case Op::kAdd:
      return static_cast<T>(x + y);
    case Op::kSubtract:
      return static_cast<T>(x - y);
    case Op::kMultiply:
      return static_cast<T>(x * y);
    case Op::kDivide:
      return no_quotient ? a : static_cast<T>(a / b);
    case Op::kRemainder:
      return no_quotient ? b : static_cast<T>(a % b);
    case Op::kMinimum:
      return std::min(a, b);
    case Op::kMaximum:
      return std::max(a, b);
    case Op::kNegate:
      return static_cast<T>(0 - x);
    case Op::kAnd:
      return static_cast<T>(x & y);
    case Op::kOr:
      return static_cast<T>(x | y);
    case Op::kXor:
      return static_cast<T>(x ^ y);
    case Op::kNot:
      return static_cast<T>(~x);
    case Op::kShiftLeft:
      return static_cast<T>(x << turn);
    case Op::kShiftRight:
      return static_cast<T>(a >> turn);
    case Op::kRotate:
      return static_cast<T>(std::rotl(static_cast<U>(a), static_cast<int>(turn)));
    case Op::kAddSaturated:
      return saturated<T>(Wide{a} + b);
    case Op::kSubtractSaturated:
      return saturated<T>(Wide{a} - b);
    case Op::kMultiplyHigh:
      return static_cast<T>(Wide{a} * b >> kBits);
    case Op::kHalfSum:
      return static_cast<T>((Wide{a} + b) >> 1);
    case Op::kPopulation:
      return static_cast<T>(std::popcount(static_cast<U>(a)));
    case Op::kLeadingZeros:
      return static_cast<T>(std::countl_zero(static_cast<U>(a)));
    default:
      throw std::logic_error("no operation of integers");
  }
}

template <class T>
T float_operation(Op op, T left, T right, T third) {
  using H = Host<T>;
  const H a = left, b = right;
  switch (op) {
    case Op::kAdd:
      return static_cast<T>(a + b);
    case Op::kSubtract:
      return static_cast<T>(a - b);
    case Op::kMultiply:
      return static_cast<T>(a * b);
    case Op::kDivide:
      return static_cast<T>(a / b);
    case Op::kNegate:
      return -left;
    case Op::kFused:
      if constexpr (kIsHalf<T>) return fused(left, right, third);
      return static_cast<T>(std::fma(a, b, static_cast<H>(third)));
    case Op::kRoot:
      return static_cast<T>(std::sqrt(a));
    case Op::kAbsolute:
      return static_cast<T>(std::fabs(a));
    case Op::kFloor:
      return static_cast<T>(std::floor(a));
    case Op::kTruncate:
      return static_cast<T>(std::trunc(a));
    case Op::kNearest:
      return static_cast<T>(std::nearbyint(a));
    default:
      throw std::logic_error("no operation of floats");
  }
}

/// Of one work-item.
struct State {
  std::vector<u64> variables;
  std::array<u64, RandomProgram::kElements> elements{};
};

enum class Way : u8 { kNext, kBreak, kContinue };

class Evaluator {
 public:
  explicit Evaluator(const RandomProgram& program) : program_(program) {}

  u64 value(const Expression& e, const State& state) const {
    switch (e.operation) {
      case Op::kConstant:
        return e.constant;
      case Op::kVariable:
        return state.variables[e.index];
      case Op::kSelect:
        return value(e.arguments[value(e.arguments[0], state) != 0 ? 1 : 2], state);
      default:
        break;
    }
    std::array<u64, 3> words{};
    for (u32 i = 0; i < e.arguments.size(); ++i) words[i] = value(e.arguments[i], state);
    if (e.operation == Op::kElement) return state.elements[words[0] & 7];
    if (e.operation == Op::kFromBits) return words[0];
    if (e.operation == Op::kCall) {
      return value(program_.functions[e.index].body, {.variables = {words.begin(), words.end()}});
    }
    return computed(e, words);
  }

  Way run(const std::vector<Statement>& statements, State& state) const {
    for (const Statement& statement : statements) {
      const Way way = run(statement, state);
      if (way != Way::kNext) return way;
    }
    return Way::kNext;
  }

  Way run(const Statement& s, State& state) const {
    const auto number = [&](u32 i) { return value(s.expressions[i], state); };
    switch (s.kind) {
      case StatementKind::kAssign:
        state.variables[s.variable] = number(0);
        return Way::kNext;
      case StatementKind::kStoreElement: {
        const u64 index = number(0) & 7;
        state.elements[index] = number(1);
        return Way::kNext;
      }
      case StatementKind::kIf:
        return run(s.bodies[number(0) != 0 ? 0 : 1], state);
      case StatementKind::kSwitch:
        return run(s.bodies[number(0) % 4], state);
      case StatementKind::kLoop:
        for (u64 left = number(0) % 6; left > 0; --left) {
          if (run(s.bodies[0], state) == Way::kBreak) break;
        }
        return Way::kNext;
      case StatementKind::kBreakIf:
        return number(0) != 0 ? Way::kBreak : Way::kNext;
      case StatementKind::kContinueIf:
        return number(0) != 0 ? Way::kContinue : Way::kNext;
      default:
        throw std::logic_error("work-items meet at the top only");
    }
  }

  /// A statement at which the work-items meet.
  static void meet(const Statement& s, std::vector<State>& states) {
    std::vector<u64> before;
    u32 sum = 0;
    for (const State& state : states) {
      before.push_back(state.variables[s.variable]);
      sum += static_cast<u32>(before.back());
    }
    const u32 step = s.kind == StatementKind::kExchangeLds ? 3 : 1;
    for (u32 lane = 0; lane < states.size(); ++lane) {
      u64& own = states[lane].variables[s.variable];
      own = s.kind == StatementKind::kSumInLds ? sum : before[(step * lane + s.shift) % before.size()];
    }
  }

 private:
  static u64 computed(const Expression& e, const std::array<u64, 3>& words) {
    const Type from = e.arguments[0].type;
    if (e.operation == Op::kLess || e.operation == Op::kEqual) {
      return with_type(from, [&](auto like) -> u64 {
        const auto a = as<decltype(like)>(words[0]), b = as<decltype(like)>(words[1]);
        return e.operation == Op::kLess ? a < b : a == b;
      });
    }
    if (e.operation == Op::kBits) {
      return with_type(from, [&](auto like) -> u64 {
        const auto a = as<decltype(like)>(words[0]);
        return a != a ? 0 : words[0];
      });
    }
    return with_type(e.type, [&](auto like) -> u64 {
      using T = decltype(like);
      if (e.operation == Op::kConvert) {
        return with_type(from, [&](auto source) { return word_of(converted<T>(as<decltype(source)>(words[0]))); });
      }
      if constexpr (kIsInteger<T>) {
        return word_of(integer_operation(e.operation, as<T>(words[0]), as<T>(words[1])));
      } else {
        return word_of(float_operation(e.operation, as<T>(words[0]), as<T>(words[1]), as<T>(words[2])));
      }
    });
  }

  const RandomProgram& program_;
};

}  // namespace

std::vector<u64> RandomProgram::evaluate(const std::vector<u64>& inputs) const {
  constexpr u32 kElementSeed = 7;  // the variable that the array starts from
  std::vector<State> states(kItems);
  for (u32 item = 0; item < kItems; ++item) {
    const auto first = inputs.begin() + static_cast<std::ptrdiff_t>(item * variables.size());
    states[item].variables.assign(first, first + static_cast<std::ptrdiff_t>(variables.size()));
    for (u32 i = 0; i < kElements; ++i) states[item].elements[i] = states[item].variables[kElementSeed] * (2 * i + 1);
  }
  const Evaluator evaluator(*this);
  for (const Statement& statement : statements) {
    if (statement.kind >= StatementKind::kExchangeLds) {
      Evaluator::meet(statement, states);
    } else {
      for (State& state : states) evaluator.run(statement, state);
    }
  }
  std::vector<u64> outputs;
  for (const State& state : states) {
    for (u32 i = 0; i < variables.size(); ++i) {
      const u64 word = state.variables[i];
      const bool nan = with_type(variables[i], [&](auto like) -> u64 {
                         return as<decltype(like)>(word) != as<decltype(like)>(word);
                       }) != 0;
      outputs.push_back(nan ? 0 : word);
    }
    outputs.insert(outputs.end(), state.elements.begin(), state.elements.end());
  }
  return outputs;
}

}  // namespace monojit::emulator::test
