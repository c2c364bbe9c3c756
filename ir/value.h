#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "ir/operators.h"

namespace monojit::ir {

/// What every value of the DSL is: a handle on an LLVM value of the current kernel. A default-made one holds nothing
/// yet, and using it is a BuildError.
class Value {
 public:
  llvm::Value* get() const { return value_; }

 protected:
  Value() = default;
  explicit Value(llvm::Value* value) : value_(value) {}

 private:
  llvm::Value* value_ = nullptr;
};

/// One element a lane. Literals convert to it; other element types never do (convert<T>() does that).
template <Kind K>
class Scalar : public Value, public detail::Operators<Scalar<K>, detail::category(K)> {
 public:
  Scalar() = default;
  explicit Scalar(Raw raw) : Value(raw.value) {}
  template <class L>
    requires LiteralFor<L, K>
  // NOLINTNEXTLINE(google-explicit-constructor): a literal takes the other operand's type
  Scalar(L literal, Loc loc = Loc::current()) : Value(make(literal, loc)) {}

 private:
  template <class L>
  static llvm::Value* make(L literal, Loc loc) {
    if constexpr (is_float(K)) {
      return emit::constant({K}, static_cast<double>(literal), loc);
    } else {
      return emit::constant({K}, static_cast<std::int64_t>(literal), loc);
    }
  }
};

using Bool = Scalar<Kind::kBool>;
using Int8 = Scalar<Kind::kInt8>;
using UInt8 = Scalar<Kind::kUInt8>;
using Int16 = Scalar<Kind::kInt16>;
using Int32 = Scalar<Kind::kInt32>;
using Int64 = Scalar<Kind::kInt64>;
using Float16 = Scalar<Kind::kFloat16>;
using BFloat16 = Scalar<Kind::kBFloat16>;
using Float32 = Scalar<Kind::kFloat32>;
using Float64 = Scalar<Kind::kFloat64>;

/// N elements a lane. Operators work element by element; a scalar or literal operand counts for every element.
template <class T, int N>
class Vec : public Value, public detail::Operators<Vec<T, N>, detail::category(detail::Traits<T>::kKind)> {
  static_assert(N >= 2, "a vector has two elements or more");
  static constexpr Kind kKind = detail::Traits<T>::kKind;

 public:
  using Element = T;
  static constexpr int kSize = N;

  Vec() = default;
  explicit Vec(Raw raw) : Value(raw.value) {}
  Vec(const T& element, Loc loc = Loc::current())  // NOLINT(google-explicit-constructor): broadcast
      : Value(emit::splat(element.get(), N, loc)) {}
  template <class L>
    requires LiteralFor<L, kKind>
  Vec(L literal, Loc loc = Loc::current())  // NOLINT(google-explicit-constructor): broadcast
      : Vec(T(literal, loc), loc) {}
  /// From one value an element.
  explicit Vec(const std::array<T, N>& elements, Loc loc = Loc::current()) : Value(join(elements, loc)) {}

  /// Element `index`, known at build time.
  T operator[](At<int> index) const { return T(Raw{emit::extract(get(), index.value, index.location)}); }
  /// Element `index` of a run-time index: costs a chain of selects.
  T at(const Int32& index, Loc loc = Loc::current()) const { return T(Raw{emit::extract(get(), index.get(), loc)}); }
  /// Replaces element `index`.
  void set(int index, const T& element, Loc loc = Loc::current()) {
    *this = Vec(Raw{emit::insert(get(), element.get(), index, loc)});
  }
  /// Elements first .. first + M - 1.
  template <int M>
  auto slice(int first, Loc loc = Loc::current()) const {
    std::array<int, M> indices;
    for (int i = 0; i < M; ++i) indices[i] = first + i;
    return Vec<T, M>(Raw{emit::shuffle(get(), nullptr, indices, loc)});
  }
  Vec<T, N / 2> low(Loc loc = Loc::current()) const { return slice<N / 2>(0, loc); }
  Vec<T, N / 2> high(Loc loc = Loc::current()) const { return slice<N / 2>(N / 2, loc); }

  class Iterator {
   public:
    Iterator(const Vec& vector, int index) : vector_(&vector), index_(index) {}
    T operator*() const { return T(Raw{emit::extract(vector_->get(), index_, Loc())}); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const Vec* vector_;
    int index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, N}; }

 private:
  static llvm::Value* join(const std::array<T, N>& elements, Loc loc) {
    llvm::Value* vector = emit::undefined({kKind, N});
    for (int i = 0; i < N; ++i) vector = emit::insert(vector, elements[i].get(), i, loc);
    return vector;
  }
};

/// A value that is the same in all active lanes of the wave, so that it can live in scalar registers and steer scalar
/// branches: literals, arguments, workgroup ids, and what is computed from them. It converts to the per-lane T; the way
/// back is uniform(x).
template <class T>
class Uniform : public T, public detail::Operators<Uniform<T>, detail::category(detail::Traits<T>::kKind)> {
 public:
  Uniform() = default;
  explicit Uniform(Raw raw) : T(raw) {}
  template <class L>
    requires LiteralFor<L, detail::Traits<T>::kKind>
  Uniform(L literal, Loc loc = Loc::current())  // NOLINT(google-explicit-constructor): a literal is uniform
      : T(literal, loc) {}
};

/// The lower elements of one vector, then those of another.
template <class T, int N, int M>
Vec<T, N + M> concat(const Vec<T, N>& a, const Vec<T, M>& b, Loc loc = Loc::current()) {
  static_assert(N == M, "concat joins vectors of one size");
  std::array<int, N + M> indices;
  for (int i = 0; i < N + M; ++i) indices[i] = i;
  return Vec<T, N + M>(Raw{emit::shuffle(a.get(), b.get(), indices, loc)});
}

/// Elements `indices` of v, in that order.
template <int... Indices, class T, int N>
Vec<T, sizeof...(Indices)> permute(const Vec<T, N>& v, Loc loc = Loc::current()) {
  static_assert(((Indices >= 0 && Indices < N) && ...), "an index is outside of the vector");
  constexpr std::array<int, sizeof...(Indices)> kIndices = {Indices...};
  return Vec<T, sizeof...(Indices)>(Raw{emit::shuffle(v.get(), nullptr, kIndices, loc)});
}

/// A vector of the given scalars.
template <class T, class... Rest>
  requires(std::same_as<T, Rest> && ...)
Vec<T, 1 + sizeof...(Rest)> vec(const T& first, const Rest&... rest) {
  return Vec<T, 1 + sizeof...(Rest)>(std::array<T, 1 + sizeof...(Rest)>{first, rest...});
}

}  // namespace monojit::ir
