#pragma once

#include <cstdint>

#include "ir/pointer.h"
#include "ir/value.h"

namespace monojit::ir {

/// How far an access reaches past the caches on its way: the scope bits of the instruction.
enum class CachePolicy : std::uint8_t {
  kDefault,      ///< may hit this compute unit's vector cache and this XCD's L2
  kDevice,       ///< sc1: seen by, and sees, the whole device
  kSystem,       ///< sc0 sc1: also other devices and the host
  kNonTemporal,  ///< nt: streamed, not worth a place in the caches
};

struct Access {
  std::uint32_t alignment = 0;  ///< bytes; 0: that of the whole value (at most 16)
  bool nontemporal = false;
  bool repeat = false;  ///< every execution counts: never merged, moved out of a loop or dropped
};

namespace detail {
llvm::Value* load(llvm::Value* pointer, Shape shape, Access access, Loc loc);
void store(llvm::Value* pointer, llvm::Value* value, Shape shape, Access access, Loc loc);
}  // namespace detail

/// One element at `pointer`: global, LDS or flat.
template <class T, class Space>
T load(const Ptr<T, Space>& pointer, Access access = {}, Loc loc = Loc::current()) {
  return T(Raw{detail::load(pointer.get(), detail::kShape<T>, access, loc)});
}
/// N consecutive elements from `pointer`, by default aligned to their whole size (at most 16 bytes).
template <int N, class T, class Space>
Vec<T, N> load(const Ptr<T, Space>& pointer, Access access = {}, Loc loc = Loc::current()) {
  return Vec<T, N>(Raw{detail::load(pointer.get(), detail::kShape<Vec<T, N>>, access, loc)});
}
template <class T, class Space>
void store(const Ptr<T, Space>& pointer, const std::type_identity_t<T>& value, Access access = {},
           Loc loc = Loc::current()) {
  detail::store(pointer.get(), value.get(), detail::kShape<T>, access, loc);
}
template <class T, class Space, int N>
void store(const Ptr<T, Space>& pointer, const Vec<T, N>& value, Access access = {}, Loc loc = Loc::current()) {
  detail::store(pointer.get(), value.get(), detail::kShape<Vec<T, N>>, access, loc);
}
/// A load at an address that is the same in all lanes.
template <class T, class Space>
Uniform<T> load(const Uniform<Ptr<T, Space>>& pointer, Access access = {}, Loc loc = Loc::current()) {
  return Uniform<T>(Raw{detail::load(pointer.get(), detail::kShape<T>, access, loc)});
}

namespace detail {
llvm::Value* load_transposed(Op op, llvm::Value* pointer, Shape shape, Loc loc);
}  // namespace detail

/// Reads LDS as the columns of a matrix whose rows lie one behind the other: lanes exchange inside their group of 16,
/// so that each gets one column's elements of Bits (4, 6, 8 or 16) bits, in 8 bytes (12 for 6 bits). gfx950.
template <int Bits, class T>
auto load_transposed(const Ptr<T, Local>& pointer, Loc loc = Loc::current()) {
  static_assert(Bits == 4 || Bits == 6 || Bits == 8 || Bits == 16, "elements have 4, 6, 8 or 16 bits");
  constexpr Op kOp = Bits == 4   ? Op::ds_read_tr4
                     : Bits == 6 ? Op::ds_read_tr6
                     : Bits == 8 ? Op::ds_read_tr8
                                 : Op::ds_read_tr16;
  using Result = std::conditional_t<Bits == 16, Vec<BFloat16, 4>, Vec<Int32, Bits == 6 ? 3 : 2>>;
  return Result(Raw{detail::load_transposed(kOp, pointer.get(), detail::kShape<Result>, loc)});
}

}  // namespace monojit::ir
