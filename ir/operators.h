#pragma once

#include <concepts>
#include <type_traits>

#include "ir/emit.h"
#include "ir/types.h"

namespace monojit::ir {

template <Kind K>
class Scalar;
template <class T, int N>
class Vec;
template <class T>
class Uniform;

/// An untyped value on its way into a typed one; only the DSL itself makes them.
struct Raw {
  llvm::Value* value;
};

namespace detail {
/// `operand` as a D. What that emits (a broadcast, the read of a variable) belongs to `loc`.
template <class D, class U>
D converted(const U& operand, Loc loc) {
  if constexpr (requires { D(operand, loc); }) {
    return D(operand, loc);
  } else if constexpr (requires { D(operand.value(loc)); }) {
    return D(operand.value(loc));
  } else {
    return D(operand);
  }
}
}  // namespace detail

/// An operand together with the line on which it was written: operators can't have a defaulted argument of their own,
/// so their operands convert to this.
template <class D>
struct At {
  template <class U>
    requires std::convertible_to<const U&, D>
  At(const U& operand, Loc loc = Loc::current())  // NOLINT(google-explicit-constructor): operands convert as they are
      : value(detail::converted<D>(operand, loc)), location(loc) {}
  D value;
  Loc location;
};

namespace detail {

template <class D>
struct Traits;  // kKind, kLanes, kUniform, Mask
template <Kind K>
struct Traits<Scalar<K>> {
  static constexpr Kind kKind = K;
  static constexpr int kLanes = 1;
  static constexpr bool kUniform = false;
  using Mask = Scalar<Kind::kBool>;
};
template <class T, int N>
struct Traits<Vec<T, N>> {
  static constexpr Kind kKind = Traits<T>::kKind;
  static constexpr int kLanes = N;
  static constexpr bool kUniform = false;
  using Mask = Vec<Scalar<Kind::kBool>, N>;
};
template <class T>
struct Traits<Uniform<T>> {
  static constexpr Kind kKind = Traits<T>::kKind;
  static constexpr int kLanes = Traits<T>::kLanes;
  static constexpr bool kUniform = true;
  using Mask = Uniform<typename Traits<T>::Mask>;
};
template <class D>
using Mask = Traits<D>::Mask;
template <class D>
inline constexpr Shape kShape = {Traits<D>::kKind, Traits<D>::kLanes};

// Both operands convert to At<D>, so that literals may stand on either side and the line is known. Where the operands
// fit the uniform and the per-lane form of an operator equally well, the uniform one wins: it is no template and the
// other is.
#define MONOJIT_IR_BINARY(form, symbol, operation)                                                  \
  form friend D operator symbol(At<D> a, At<D> b) {                                                 \
    return D(Raw{emit::binary(emit::Binary::operation, a.value.get(), b.value.get(), a.location)}); \
  }                                                                                                 \
  friend D& operator symbol## = (D & a, At<D> b) {                                                  \
    return a = D(Raw{emit::binary(emit::Binary::operation, a.get(), b.value.get(), b.location)});   \
  }                                                                                                 \
  template <class U> /* a per-lane value can't go into a uniform one */                             \
    requires(Traits<D>::kUniform && !std::convertible_to<const U&, D>)                              \
  friend D& operator symbol## = (D & a, const U& b) = delete;
#define MONOJIT_IR_LOGIC(form, symbol, operation)                                                   \
  form friend D operator symbol(At<D> a, At<D> b) {                                                 \
    return D(Raw{emit::binary(emit::Binary::operation, a.value.get(), b.value.get(), a.location)}); \
  }
#define MONOJIT_IR_COMPARE(form, symbol, predicate)                                                         \
  form friend Mask<D> operator symbol(At<D> a, At<D> b) {                                                   \
    return Mask<D>(Raw{emit::compare(emit::Compare::predicate, a.value.get(), b.value.get(), a.location)}); \
  }
#define MONOJIT_IR_UNARY(form, symbol, function) \
  form friend D operator symbol(At<D> a) { return D(Raw{emit::function(a.value.get(), a.location)}); }

// Division, remainder, order and >> count as signed: Int32 is signed. Unsigned forms have names (math.h).
#define MONOJIT_IR_INTEGER(form)     \
  MONOJIT_IR_BINARY(form, +, kAdd)   \
  MONOJIT_IR_BINARY(form, -, kSub)   \
  MONOJIT_IR_BINARY(form, *, kMul)   \
  MONOJIT_IR_BINARY(form, /, kSDiv)  \
  MONOJIT_IR_BINARY(form, %, kSRem)  \
  MONOJIT_IR_BINARY(form, &, kAnd)   \
  MONOJIT_IR_BINARY(form, |, kOr)    \
  MONOJIT_IR_BINARY(form, ^, kXor)   \
  MONOJIT_IR_BINARY(form, <<, kShl)  \
  MONOJIT_IR_BINARY(form, >>, kAShr) \
  MONOJIT_IR_COMPARE(form, ==, kEq)  \
  MONOJIT_IR_COMPARE(form, !=, kNe)  \
  MONOJIT_IR_COMPARE(form, <, kSlt)  \
  MONOJIT_IR_COMPARE(form, <=, kSle) \
  MONOJIT_IR_COMPARE(form, >, kSgt)  \
  MONOJIT_IR_COMPARE(form, >=, kSge) \
  MONOJIT_IR_UNARY(form, -, negate)  \
  MONOJIT_IR_UNARY(form, ~, invert)

// Each operator is one IEEE operation, rounded once; / is correctly rounded. Comparisons are ordered: a NaN operand
// gives false, except for != which then is true.
#define MONOJIT_IR_FLOAT(form)       \
  MONOJIT_IR_BINARY(form, +, kFAdd)  \
  MONOJIT_IR_BINARY(form, -, kFSub)  \
  MONOJIT_IR_BINARY(form, *, kFMul)  \
  MONOJIT_IR_BINARY(form, /, kFDiv)  \
  MONOJIT_IR_COMPARE(form, ==, kFEq) \
  MONOJIT_IR_COMPARE(form, !=, kFNe) \
  MONOJIT_IR_COMPARE(form, <, kFLt)  \
  MONOJIT_IR_COMPARE(form, <=, kFLe) \
  MONOJIT_IR_COMPARE(form, >, kFGt)  \
  MONOJIT_IR_COMPARE(form, >=, kFGe) \
  MONOJIT_IR_UNARY(form, -, negate)

// && and || evaluate both sides, as & and | do.
#define MONOJIT_IR_BOOLEAN(form)    \
  MONOJIT_IR_BINARY(form, &, kAnd)  \
  MONOJIT_IR_BINARY(form, |, kOr)   \
  MONOJIT_IR_BINARY(form, ^, kXor)  \
  MONOJIT_IR_LOGIC(form, &&, kAnd)  \
  MONOJIT_IR_LOGIC(form, ||, kOr)   \
  MONOJIT_IR_COMPARE(form, ==, kEq) \
  MONOJIT_IR_COMPARE(form, !=, kNe) \
  MONOJIT_IR_UNARY(form, !, invert)

enum class Category { kBoolean, kInteger, kFloat, kStorage };
constexpr Category category(Kind kind) {
  if (kind == Kind::kBool) return Category::kBoolean;
  if (is_integer(kind)) return Category::kInteger;
  return is_arithmetic_float(kind) ? Category::kFloat : Category::kStorage;
}

/// The operators of D, found by argument-dependent lookup. Nothing for bytes and bf16, which are for storage.
// NOLINTBEGIN(bugprone-crtp-constructor-accessibility): nothing but friends is in them
template <class D, Category C, bool IsUniform = Traits<D>::kUniform>
struct Operators {};
template <class D>
struct Operators<D, Category::kInteger, false> {
  MONOJIT_IR_INTEGER(template <class = void>)
};
template <class D>
struct Operators<D, Category::kInteger, true> {
  MONOJIT_IR_INTEGER()
};
template <class D>
struct Operators<D, Category::kFloat, false> {
  MONOJIT_IR_FLOAT(template <class = void>)
};
template <class D>
struct Operators<D, Category::kFloat, true> {
  MONOJIT_IR_FLOAT()
};
template <class D>
struct Operators<D, Category::kBoolean, false> {
  MONOJIT_IR_BOOLEAN(template <class = void>)
};
template <class D>
struct Operators<D, Category::kBoolean, true> {
  MONOJIT_IR_BOOLEAN()
};
// NOLINTEND(bugprone-crtp-constructor-accessibility)

#undef MONOJIT_IR_BOOLEAN
#undef MONOJIT_IR_FLOAT
#undef MONOJIT_IR_INTEGER
#undef MONOJIT_IR_UNARY
#undef MONOJIT_IR_COMPARE
#undef MONOJIT_IR_LOGIC
#undef MONOJIT_IR_BINARY

}  // namespace detail
}  // namespace monojit::ir
