#pragma once

#include <concepts>
#include <cstdint>
#include <source_location>
#include <type_traits>

namespace llvm {
class BasicBlock;
class Module;
class Type;
class Value;
}  // namespace llvm

namespace monojit::ir {

/// Element types. kUInt8 is a raw byte: it is loaded, stored and zero-extended, and has no arithmetic.
enum class Kind : std::uint8_t {
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64
};

constexpr bool is_integer(Kind kind) {
  return kind == Kind::kInt8 || kind == Kind::kInt16 || kind == Kind::kInt32 || kind == Kind::kInt64;
}
constexpr bool is_float(Kind kind) { return kind >= Kind::kFloat16; }
/// Whether the DSL has arithmetic on it: bf16 is converted to f32 first, so that every rounding is written down.
constexpr bool is_arithmetic_float(Kind kind) { return is_float(kind) && kind != Kind::kBFloat16; }
constexpr unsigned bits_of(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return 1;
    case Kind::kInt8:
    case Kind::kUInt8:
      return 8;
    case Kind::kInt16:
    case Kind::kFloat16:
    case Kind::kBFloat16:
      return 16;
    case Kind::kInt32:
    case Kind::kFloat32:
      return 32;
    case Kind::kInt64:
    case Kind::kFloat64:
      return 64;
  }
  return 0;
}
constexpr unsigned bytes_of(Kind kind) { return (bits_of(kind) + 7) / 8; }

/// The shape of a value: `lanes` elements of `kind`; a scalar has one.
struct Shape {
  Kind kind;
  int lanes = 1;
};
constexpr unsigned bytes_of(Shape shape) { return bytes_of(shape.kind) * static_cast<unsigned>(shape.lanes); }

/// Address spaces, as tags of Ptr<T, Space>.
struct Flat {
  static constexpr unsigned kNumber = 0;
};
struct Global {
  static constexpr unsigned kNumber = 1;
};
struct Local {  ///< LDS
  static constexpr unsigned kNumber = 3;
};

/// Where in the emitter's source an operation was written.
using Loc = std::source_location;

template <class L>
concept Literal = std::is_arithmetic_v<L>;

/// Literals that an element of kind K takes: a whole number for an integer, any number for a float, a bool for a Bool.
template <class L, Kind K>
concept LiteralFor =
    Literal<L> &&
    (K == Kind::kBool ? std::same_as<L, bool> : !std::same_as<L, bool> && (is_float(K) ? true : std::integral<L>));

}  // namespace monojit::ir
