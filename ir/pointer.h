#pragma once

#include "ir/value.h"

namespace monojit::ir {

/// A count of elements for pointer arithmetic: Int32 (signed), Int64, or a literal.
struct Index {
  template <class U>
    requires std::convertible_to<const U&, Int32>
  Index(const U& index)  // NOLINT(google-explicit-constructor): indices convert as they are
      : value(Int32(index).get()) {}
  template <class U>
    requires(std::convertible_to<const U&, Int64> && !std::convertible_to<const U&, Int32>)
  Index(const U& index)  // NOLINT(google-explicit-constructor)
      : value(Int64(index).get()) {}
  llvm::Value* value;
};

struct UniformIndex {
  template <class U>
    requires std::convertible_to<const U&, Uniform<Int32>>
  UniformIndex(const U& index)  // NOLINT(google-explicit-constructor)
      : value(Uniform<Int32>(index).get()) {}
  template <class U>
    requires(std::convertible_to<const U&, Uniform<Int64>> && !std::convertible_to<const U&, Uniform<Int32>>)
  UniformIndex(const U& index)  // NOLINT(google-explicit-constructor)
      : value(Uniform<Int64>(index).get()) {}
  llvm::Value* value;
};

/// The address of elements of T in Flat, Global or Local (LDS) memory. Arithmetic counts elements.
template <class T, class Space>
class Ptr : public Value {
 public:
  using Element = T;
  static constexpr unsigned kElementBytes = bytes_of(detail::kShape<T>);

  Ptr() = default;
  explicit Ptr(Raw raw) : Value(raw.value) {}

  friend Ptr operator+(const Ptr& pointer, At<Index> index) {
    return Ptr(Raw{emit::offset(pointer.get(), index.value.value, kElementBytes, index.location)});
  }
  friend Uniform<Ptr> operator+(const Uniform<Ptr>& pointer, At<UniformIndex> index) {
    return Uniform<Ptr>(Raw{emit::offset(pointer.get(), index.value.value, kElementBytes, index.location)});
  }
};

namespace detail {
template <class T, class Space>
struct Traits<Ptr<T, Space>> {
  static constexpr Kind kKind = Kind::kUInt8;  // no operators of numbers
  static constexpr int kLanes = 1;
  static constexpr bool kUniform = false;
};
}  // namespace detail

template <class T, class Space>
class Uniform<Ptr<T, Space>> : public Ptr<T, Space> {
 public:
  Uniform() = default;
  explicit Uniform(Raw raw) : Ptr<T, Space>(raw) {}
};

/// The same address, as one of elements of U.
template <class U, class T, class Space>
Ptr<U, Space> pointer_cast(const Ptr<T, Space>& pointer) {
  return Ptr<U, Space>(Raw{pointer.get()});
}
template <class U, class T, class Space>
Uniform<Ptr<U, Space>> pointer_cast(const Uniform<Ptr<T, Space>>& pointer) {
  return Uniform<Ptr<U, Space>>(Raw{pointer.get()});
}

/// The address as a number: 64 bits of a global or flat pointer, 32 bits of an LDS one.
template <class T, class Space>
auto address(const Ptr<T, Space>& pointer, Loc loc = Loc::current()) {
  using Number = std::conditional_t<std::same_as<Space, Local>, Int32, Int64>;
  return Number(Raw{emit::pointer_to_int(pointer.get(), loc)});
}
template <class T, class Space>
auto address(const Uniform<Ptr<T, Space>>& pointer, Loc loc = Loc::current()) {
  using Number = std::conditional_t<std::same_as<Space, Local>, Int32, Int64>;
  return Uniform<Number>(Raw{emit::pointer_to_int(pointer.get(), loc)});
}
template <class T, class Space = Global>
Ptr<T, Space> pointer_from_address(const Int64& address, Loc loc = Loc::current()) {
  return Ptr<T, Space>(Raw{emit::int_to_pointer(address.get(), Space::kNumber, loc)});
}
template <class T, class Space = Global>
Uniform<Ptr<T, Space>> pointer_from_address(const Uniform<Int64>& address, Loc loc = Loc::current()) {
  return Uniform<Ptr<T, Space>>(Raw{emit::int_to_pointer(address.get(), Space::kNumber, loc)});
}
/// A flat pointer to global memory or LDS.
template <class T, class Space>
Ptr<T, Flat> to_flat(const Ptr<T, Space>& pointer, Loc loc = Loc::current()) {
  return Ptr<T, Flat>(Raw{emit::to_flat(pointer.get(), loc)});
}

}  // namespace monojit::ir
