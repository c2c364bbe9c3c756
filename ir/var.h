#pragma once

#include "ir/pointer.h"
#include "ir/value.h"

namespace monojit::ir {

namespace detail {
template <class T>
struct Storage {
  static llvm::Value* make(Loc loc) { return emit::variable(kShape<T>, loc); }
};
template <class T, class Space>
struct Storage<Ptr<T, Space>> {
  static llvm::Value* make(Loc loc) { return emit::pointer_variable(Space::kNumber, loc); }
};
template <class T>
struct Storage<Uniform<T>> : Storage<T> {};
}  // namespace detail

/// A variable that emitted control flow may change: loop-carried state, results of branches. Reads like a T; assignment
/// stores. Costs no memory: it becomes registers. A copy is a new variable of the same value.
/// A Var<Uniform<T>> may only be assigned under conditions that are uniform, too.
template <class T>
class Var {
 public:
  /// A variable of no particular value yet.
  explicit Var(Loc loc = Loc::current()) : variable_(detail::Storage<T>::make(loc)) {}
  template <class U>
    requires std::convertible_to<const U&, T>
  explicit Var(const U& initial, Loc loc = Loc::current()) : Var(loc) {
    emit::write_variable(variable_, T(initial).get(), loc);
  }
  Var(const Var& other) : Var(other.value()) {}
  Var(Var&& other) noexcept : variable_(other.variable_) {}
  ~Var() = default;

  Var& operator=(At<T> value) {
    emit::write_variable(variable_, value.value.get(), value.location);
    return *this;
  }
  Var& operator=(const Var& other) {
    return *this = At<T>(other.value());
  }  // NOLINT(bugprone-unhandled-self-assignment)

  T value(Loc loc = Loc::current()) const { return T(Raw{emit::read_variable(variable_, loc)}); }
  operator T() const { return value(Loc()); }  // NOLINT(google-explicit-constructor): it stands for its value

  Var& operator+=(At<T> b) { return *this = At<T>(At<T>(value(b.location), b.location) + b.value, b.location); }
  Var& operator-=(At<T> b) { return *this = At<T>(At<T>(value(b.location), b.location) - b.value, b.location); }
  Var& operator*=(At<T> b) { return *this = At<T>(At<T>(value(b.location), b.location) * b.value, b.location); }
  Var& operator|=(At<T> b) { return *this = At<T>(At<T>(value(b.location), b.location) | b.value, b.location); }
  Var& operator&=(At<T> b) { return *this = At<T>(At<T>(value(b.location), b.location) & b.value, b.location); }

 private:
  llvm::Value* variable_;
};

template <class T>
Var(const T&) -> Var<T>;

}  // namespace monojit::ir
