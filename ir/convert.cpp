#include "ir/convert.h"

#include "ir/builder.h"

namespace monojit::ir {

namespace detail {

llvm::Value* convert(llvm::Value* value, Shape from, Shape to, Loc loc) {
  const bool unsigned_source = from.kind == Kind::kUInt8 || from.kind == Kind::kBool;
  if (from.kind == to.kind) return value;
  if (is_float(from.kind) && is_float(to.kind)) {
    return emit::cast(bits_of(to.kind) > bits_of(from.kind) ? emit::Cast::kFPExt : emit::Cast::kFPTrunc, value, to,
                      loc);
  }
  if (is_float(from.kind))
    return emit::cast(to.kind == Kind::kUInt8 ? emit::Cast::kFPToUI : emit::Cast::kFPToSI, value, to, loc);
  if (is_float(to.kind)) return emit::cast(unsigned_source ? emit::Cast::kUIToFP : emit::Cast::kSIToFP, value, to, loc);
  if (bits_of(to.kind) > bits_of(from.kind)) {
    return emit::cast(unsigned_source ? emit::Cast::kZExt : emit::Cast::kSExt, value, to, loc);
  }
  if (bits_of(to.kind) == bits_of(from.kind)) return value;  // bytes, signed or not
  return emit::cast(emit::Cast::kTrunc, value, to, loc);
}

llvm::Value* zero_extend(llvm::Value* value, Shape from, Shape to, Loc loc) {
  return bits_of(from.kind) == bits_of(to.kind) ? value : emit::cast(emit::Cast::kZExt, value, to, loc);
}

llvm::Value* cvt_pk(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* old, bool high, Loc loc) {
  return emit::call(op, {a, b, old, emit::flag(high)}, loc);
}

llvm::Value* cvt_sr(Op op, llvm::Value* a, llvm::Value* seed, llvm::Value* old, int byte, Loc loc) {
  return emit::call(op, {a, seed, old, emit::immediate(byte)}, loc);
}

llvm::Value* cvt_byte(Op op, llvm::Value* packed, int byte, Loc loc) {
  return emit::call(op, {packed, emit::immediate(byte)}, loc);
}

llvm::Value* cvt_half(Op op, llvm::Value* packed, bool high, Loc loc) {
  return emit::call(op, {packed, emit::flag(high)}, loc);
}

}  // namespace detail

Int32 pack_bf16(const Float32& low, const Float32& high, Loc loc) {
  Vec<Float32, 2> pair(Raw{emit::undefined({Kind::kFloat32, 2})});
  pair.set(0, low, loc);
  pair.set(1, high, loc);
  return bitcast<Int32>(convert<BFloat16>(pair, loc), loc);
}

Int32 pack_fp8(const Float32& a, const Float32& b, const Float32& c, const Float32& d, Loc loc) {
  const Int32 none(Raw{emit::undefined({Kind::kInt32})});
  return cvt_pk_fp8<1>(c, d, cvt_pk_fp8<0>(a, b, none, loc), loc);
}

Vec<Float32, 4> unpack_fp8(const Int32& packed, Loc loc) {
  return concat(cvt_pk_f32_fp8<0>(packed, loc), cvt_pk_f32_fp8<1>(packed, loc), loc);
}

}  // namespace monojit::ir
