#pragma once

#include <cstdint>
#include <string_view>

#include "ir/memory.h"

namespace monojit::ir {

/// A named piece of LDS. It converts to a pointer at its first element.
template <class T>
class LdsArray {
 public:
  LdsArray() = default;
  LdsArray(Uniform<Ptr<T, Local>> pointer, std::uint32_t offset, std::uint32_t size)
      : pointer_(pointer), offset_(offset), size_(size) {}

  const Uniform<Ptr<T, Local>>& pointer() const { return pointer_; }
  std::uint32_t offset() const { return offset_; }  ///< bytes from the start of the workgroup's LDS
  std::uint32_t size() const { return size_; }      ///< elements
  std::uint32_t bytes() const { return size_ * Ptr<T, Local>::kElementBytes; }

  operator Uniform<Ptr<T, Local>>() const { return pointer_; }  // NOLINT(google-explicit-constructor)
  template <class U>
    requires std::convertible_to<const U&, UniformIndex>
  friend Uniform<Ptr<T, Local>> operator+(const LdsArray& array, const U& index) {
    return array.pointer_ + At<UniformIndex>(index, Loc());
  }
  template <class U>
    requires(std::convertible_to<const U&, Index> && !std::convertible_to<const U&, UniformIndex>)
  friend Ptr<T, Local> operator+(const LdsArray& array, const U& index) {
    return array.pointer_ + At<Index>(index, Loc());
  }

 private:
  Uniform<Ptr<T, Local>> pointer_;
  std::uint32_t offset_ = 0;
  std::uint32_t size_ = 0;
};

namespace detail {
struct LdsPlace {
  llvm::Value* pointer;
  std::uint32_t offset;
};
LdsPlace place_lds(std::string_view name, std::uint32_t bytes, std::uint32_t alignment, Loc loc);
std::uint32_t lds_position();
void set_lds_position(std::uint32_t position);
}  // namespace detail

/// Places arrays in the LDS of the current kernel, one behind the other; members of an overlap share their place. Going
/// beyond what the chip has is a BuildError that names the array.
class LdsLayout {
 public:
  template <class T>
  LdsArray<T> array(std::string_view name, std::uint32_t size, std::uint32_t alignment = 16, Loc loc = Loc::current()) {
    const detail::LdsPlace place = detail::place_lds(name, size * Ptr<T, Local>::kElementBytes, alignment, loc);
    return LdsArray<T>(Uniform<Ptr<T, Local>>(Raw{place.pointer}), place.offset, size);
  }

  /// A union: what each of `members` (callables that place arrays) needs starts at the same place; the largest counts.
  template <class... Members>
  void overlap(Members&&... members) {
    const std::uint32_t start = detail::lds_position();
    std::uint32_t end = start;
    const auto one = [&](auto&& member) {
      detail::set_lds_position(start);
      member();
      end = end < detail::lds_position() ? detail::lds_position() : end;
    };
    (one(members), ...);
    detail::set_lds_position(end);
  }

  /// Bytes placed so far, over all layouts of the kernel.
  std::uint32_t bytes() const { return detail::lds_position(); }
};

// Loads and stores at an array's first element; array + index gives a pointer elsewhere.
template <class T>
T load(const LdsArray<T>& array, Access access = {}, Loc loc = Loc::current()) {
  return T(load(static_cast<const Ptr<T, Local>&>(array.pointer()), access, loc));
}
template <int N, class T>
Vec<T, N> load(const LdsArray<T>& array, Access access = {}, Loc loc = Loc::current()) {
  return load<N>(static_cast<const Ptr<T, Local>&>(array.pointer()), access, loc);
}
template <class T>
void store(const LdsArray<T>& array, const std::type_identity_t<T>& value, Access access = {},
           Loc loc = Loc::current()) {
  store(static_cast<const Ptr<T, Local>&>(array.pointer()), value, access, loc);
}

}  // namespace monojit::ir
