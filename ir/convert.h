#pragma once

#include "ir/math.h"
#include "ir/pointer.h"
#include "ir/value.h"

namespace monojit::ir {

namespace detail {
/// The DSL's type for a host type, so that extend<float>(x) reads as it should.
template <class T>
struct Named {
  using Type = T;
};
template <>
struct Named<float> {
  using Type = Float32;
};
template <>
struct Named<double> {
  using Type = Float64;
};
template <class T, class Like>
struct Reshaped {
  using Type = T;
};
template <class T, class U, int N>
struct Reshaped<T, Vec<U, N>> {
  using Type = Vec<T, N>;
};
template <class T, class U>
struct Reshaped<T, Uniform<U>> {
  using Type = Uniform<typename Reshaped<T, U>::Type>;
};
template <class To, class From>
using Converted = Reshaped<typename Named<To>::Type, From>::Type;

llvm::Value* convert(llvm::Value* value, Shape from, Shape to, Loc loc);
llvm::Value* zero_extend(llvm::Value* value, Shape from, Shape to, Loc loc);
}  // namespace detail

template <class T>
concept Convertible = std::derived_from<T, Value>;

/// The number that is nearest in another element type: integers are sign-extended (UInt8 and Bool zero-extended) or cut
/// off, floats are rounded to nearest even, a float becomes an integer by cutting off its fraction.
template <class To, Convertible From>
auto convert(const From& value, Loc loc = Loc::current()) {
  using Result = detail::Converted<To, From>;
  static_assert(detail::Traits<Result>::kKind != Kind::kBool, "write x != 0 for a Bool");
  return Result(Raw{detail::convert(value.get(), detail::kShape<From>, detail::kShape<Result>, loc)});
}
/// A convert that loses nothing: to a wider type of the same sort.
template <class To, Convertible From>
auto extend(const From& value, Loc loc = Loc::current()) {
  using Result = detail::Converted<To, From>;
  constexpr Kind kFrom = detail::Traits<From>::kKind;
  constexpr Kind kTo = detail::Traits<Result>::kKind;
  static_assert(bits_of(kTo) > bits_of(kFrom) && is_float(kTo) == is_float(kFrom),
                "extend goes to a wider type of the same sort");
  return Result(Raw{detail::convert(value.get(), detail::kShape<From>, detail::kShape<Result>, loc)});
}
/// Zeros above the bits of an integer.
template <class To, Convertible From>
auto zero_extend(const From& value, Loc loc = Loc::current()) {
  using Result = detail::Converted<To, From>;
  return Result(Raw{detail::zero_extend(value.get(), detail::kShape<From>, detail::kShape<Result>, loc)});
}
/// The low bits of an integer.
template <class To, Convertible From>
auto truncate(const From& value, Loc loc = Loc::current()) {
  using Result = detail::Converted<To, From>;
  static_assert(bits_of(detail::Traits<Result>::kKind) < bits_of(detail::Traits<From>::kKind),
                "truncate goes to a narrower type");
  return Result(Raw{detail::convert(value.get(), detail::kShape<From>, detail::kShape<Result>, loc)});
}
/// The same bits, as a type of the same size: bitcast<Int32>(float32), bitcast<Vec<Int32, 4>>(bytes16).
template <class To, Convertible From>
To bitcast(const From& value, Loc loc = Loc::current()) {
  static_assert(detail::Traits<To>::kLanes * bits_of(detail::Traits<To>::kKind) ==
                    detail::Traits<From>::kLanes * bits_of(detail::Traits<From>::kKind),
                "a bitcast keeps the size");
  return To(Raw{emit::cast(emit::Cast::kBitCast, value.get(), detail::kShape<To>, loc)});
}
template <class To, class From>
Uniform<To> bitcast(const Uniform<From>& value, Loc loc = Loc::current()) {
  return Uniform<To>(Raw{bitcast<To>(static_cast<const From&>(value), loc).get()});
}

/// f32 rounded to bf16, nearest even; NaN stays NaN.
inline BFloat16 round_bf16(const Float32& value, Loc loc = Loc::current()) { return convert<BFloat16>(value, loc); }
template <int N>
Vec<BFloat16, N> round_bf16(const Vec<Float32, N>& value, Loc loc = Loc::current()) {
  return convert<BFloat16>(value, loc);
}
/// Two f32 rounded to bf16 and packed, `low` in the lower half.
Int32 pack_bf16(const Float32& low, const Float32& high, Loc loc = Loc::current());

// 8-bit floats, four to an Int32. The format is the chip's own: E4M3FNUZ / E5M2FNUZ on gfx942, OCP E4M3FN / E5M2 on
// gfx950. Nothing clamps: what is too large becomes NaN (E5M2 on gfx950: infinity). `Half` picks 16 bits of the Int32,
// `Byte` 8.

/// old with its lower (Half 0) or upper (Half 1) two bytes replaced by a and b.
template <int Half>
Int32 cvt_pk_fp8(const Float32& a, const Float32& b, const Int32& old, Loc loc = Loc::current());
template <int Half>
Int32 cvt_pk_bf8(const Float32& a, const Float32& b, const Int32& old, Loc loc = Loc::current());
/// Bytes a, b, c, d from the lowest up.
Int32 pack_fp8(const Float32& a, const Float32& b, const Float32& c, const Float32& d, Loc loc = Loc::current());
/// Stochastic rounding with the random bits `seed`, into byte `Byte` of old.
template <int Byte>
Int32 cvt_sr_fp8(const Float32& a, const Int32& seed, const Int32& old, Loc loc = Loc::current());
template <int Byte>
Int32 cvt_sr_bf8(const Float32& a, const Int32& seed, const Int32& old, Loc loc = Loc::current());
template <int Byte>
Float32 cvt_f32_fp8(const Int32& packed, Loc loc = Loc::current());
template <int Byte>
Float32 cvt_f32_bf8(const Int32& packed, Loc loc = Loc::current());
template <int Half>
Vec<Float32, 2> cvt_pk_f32_fp8(const Int32& packed, Loc loc = Loc::current());
template <int Half>
Vec<Float32, 2> cvt_pk_f32_bf8(const Int32& packed, Loc loc = Loc::current());
/// The four values of a packed Int32, lowest byte first.
Vec<Float32, 4> unpack_fp8(const Int32& packed, Loc loc = Loc::current());

namespace detail {
llvm::Value* cvt_pk(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* old, bool high, Loc loc);
llvm::Value* cvt_sr(Op op, llvm::Value* a, llvm::Value* seed, llvm::Value* old, int byte, Loc loc);
llvm::Value* cvt_byte(Op op, llvm::Value* packed, int byte, Loc loc);
llvm::Value* cvt_half(Op op, llvm::Value* packed, bool high, Loc loc);
}  // namespace detail

template <int Half>
Int32 cvt_pk_fp8(const Float32& a, const Float32& b, const Int32& old, Loc loc) {
  static_assert(Half == 0 || Half == 1);
  return Int32(Raw{detail::cvt_pk(Op::cvt_pk_fp8_f32, a.get(), b.get(), old.get(), Half == 1, loc)});
}
template <int Half>
Int32 cvt_pk_bf8(const Float32& a, const Float32& b, const Int32& old, Loc loc) {
  static_assert(Half == 0 || Half == 1);
  return Int32(Raw{detail::cvt_pk(Op::cvt_pk_bf8_f32, a.get(), b.get(), old.get(), Half == 1, loc)});
}
template <int Byte>
Int32 cvt_sr_fp8(const Float32& a, const Int32& seed, const Int32& old, Loc loc) {
  static_assert(Byte >= 0 && Byte < 4);
  return Int32(Raw{detail::cvt_sr(Op::cvt_sr_fp8_f32, a.get(), seed.get(), old.get(), Byte, loc)});
}
template <int Byte>
Int32 cvt_sr_bf8(const Float32& a, const Int32& seed, const Int32& old, Loc loc) {
  static_assert(Byte >= 0 && Byte < 4);
  return Int32(Raw{detail::cvt_sr(Op::cvt_sr_bf8_f32, a.get(), seed.get(), old.get(), Byte, loc)});
}
template <int Byte>
Float32 cvt_f32_fp8(const Int32& packed, Loc loc) {
  static_assert(Byte >= 0 && Byte < 4);
  return Float32(Raw{detail::cvt_byte(Op::cvt_f32_fp8, packed.get(), Byte, loc)});
}
template <int Byte>
Float32 cvt_f32_bf8(const Int32& packed, Loc loc) {
  static_assert(Byte >= 0 && Byte < 4);
  return Float32(Raw{detail::cvt_byte(Op::cvt_f32_bf8, packed.get(), Byte, loc)});
}
template <int Half>
Vec<Float32, 2> cvt_pk_f32_fp8(const Int32& packed, Loc loc) {
  static_assert(Half == 0 || Half == 1);
  return Vec<Float32, 2>(Raw{detail::cvt_half(Op::cvt_pk_f32_fp8, packed.get(), Half == 1, loc)});
}
template <int Half>
Vec<Float32, 2> cvt_pk_f32_bf8(const Int32& packed, Loc loc) {
  static_assert(Half == 0 || Half == 1);
  return Vec<Float32, 2>(Raw{detail::cvt_half(Op::cvt_pk_f32_bf8, packed.get(), Half == 1, loc)});
}

/// `base` and a lane's unsigned offset in bytes: an address that costs no instructions, unlike base + a signed index.
template <class T, class Space>
Ptr<T, Space> at_byte(const Uniform<Ptr<T, Space>>& base, const Int32& byte, Loc loc = Loc::current()) {
  const Ptr<UInt8, Space> bytes = pointer_cast<UInt8>(base);
  return pointer_cast<T>(bytes + At<Index>(Index(zero_extend<Int64>(byte, loc)), loc));
}

}  // namespace monojit::ir
