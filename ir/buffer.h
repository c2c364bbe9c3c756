#pragma once

#include <cstdint>

#include "ir/memory.h"

namespace monojit::ir {

inline constexpr std::uint32_t kBufferFlags = 0x00027000;  // raw buffer of dwords: data format 32, number format float
inline constexpr std::int64_t kWholeAddressSpace = 0xFFFFFFFF;

/// Where a buffer access goes besides its per-lane byte offset. Scalar registers are scarce: one resource with many
/// offsets is better than many resources.
struct BufferAccess {
  /// Bytes, added for all lanes alike from a scalar register; none: 0.
  Uniform<Int32> scalar_offset = {};  // NOLINT(readability-redundant-member-init): GCC warns without
  std::int32_t offset = 0;            ///< bytes, known at build time; 0..4095 costs nothing
  CachePolicy policy = CachePolicy::kDefault;
  bool repeat = false;  ///< loads: every execution counts, as a poll's; never merged or moved out of a loop
};

/// A buffer descriptor: base address and size. Loads past the end give 0, stores there are dropped. Four scalar
/// registers.
class BufferResource : public Value {
 public:
  BufferResource() = default;
  template <class T>
  explicit BufferResource(const Uniform<Ptr<T, Global>>& base, const Uniform<Int64>& bytes = kWholeAddressSpace,
                          Loc loc = Loc::current())
      : Value(make(base.get(), bytes.get(), loc)) {}

 private:
  static llvm::Value* make(llvm::Value* base, llvm::Value* bytes, Loc loc);
};

namespace detail {
std::int64_t buffer_policy(CachePolicy policy);
llvm::Value* buffer_scalar_offset(const BufferAccess& access);
llvm::Value* buffer_lane_offset(llvm::Value* offset, const BufferAccess& access, Loc loc);
llvm::Value* buffer_load(llvm::Value* resource, llvm::Value* offset, Shape shape, const BufferAccess& access, Loc loc);
void buffer_store(llvm::Value* resource, llvm::Value* offset, llvm::Value* value, Shape shape,
                  const BufferAccess& access, Loc loc);
}  // namespace detail

/// load<Vec<Int32, 4>>(resource, byte_offset, {.policy = CachePolicy::kDevice}): 1, 2, 4, 8, 12 or 16 bytes a lane.
template <class T>
T load(const BufferResource& resource, const Int32& byte_offset, const BufferAccess& access = {},
       Loc loc = Loc::current()) {
  return T(Raw{detail::buffer_load(resource.get(), byte_offset.get(), detail::kShape<T>, access, loc)});
}
template <Kind K>
void store(const BufferResource& resource, const Int32& byte_offset, const Scalar<K>& value,
           const BufferAccess& access = {}, Loc loc = Loc::current()) {
  detail::buffer_store(resource.get(), byte_offset.get(), value.get(), {K}, access, loc);
}
template <class T, int N>
void store(const BufferResource& resource, const Int32& byte_offset, const Vec<T, N>& value,
           const BufferAccess& access = {}, Loc loc = Loc::current()) {
  detail::buffer_store(resource.get(), byte_offset.get(), value.get(), detail::kShape<Vec<T, N>>, access, loc);
}

/// Copies Bytes (1, 2, 4; on gfx950 also 12 and 16) a lane from memory into LDS without registers. Lane i's data go to
/// `destination` + i * Bytes (16 for 12): the destination is the wave's, not the lane's. access.offset counts on both
/// sides.
template <int Bytes, class T>
void load_to_lds(const BufferResource& resource, const Int32& byte_offset, const Uniform<Ptr<T, Local>>& destination,
                 const BufferAccess& access = {}, Loc loc = Loc::current());

namespace detail {
void buffer_load_to_lds(llvm::Value* resource, llvm::Value* offset, llvm::Value* destination, int bytes,
                        const BufferAccess& access, Loc loc);
void global_load_to_lds(llvm::Value* source, llvm::Value* destination, int bytes, CachePolicy policy, Loc loc);
}  // namespace detail

template <int Bytes, class T>
void load_to_lds(const BufferResource& resource, const Int32& byte_offset, const Uniform<Ptr<T, Local>>& destination,
                 const BufferAccess& access, Loc loc) {
  detail::buffer_load_to_lds(resource.get(), byte_offset.get(), destination.get(), Bytes, access, loc);
}
/// The same from a global pointer; 4 bytes, on gfx950 also 12 and 16.
template <int Bytes, class T, class U>
void load_to_lds(const Ptr<T, Global>& source, const Uniform<Ptr<U, Local>>& destination,
                 CachePolicy policy = CachePolicy::kDefault, Loc loc = Loc::current()) {
  detail::global_load_to_lds(source.get(), destination.get(), Bytes, policy, loc);
}

}  // namespace monojit::ir
