#include "ir/mfma.h"

#include "ir/builder.h"

namespace monojit::ir {

namespace {

llvm::Value* mfma(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* c, Loc loc) {
  return emit::call(op, {a, b, c, emit::immediate(0), emit::immediate(0), emit::immediate(0)}, loc);
}

/// The older bf16 forms take their operands as 16-bit integers.
llvm::Value* as_words(const Vec<BFloat16, 4>& value, Loc loc) {
  return emit::cast(emit::Cast::kBitCast, value.get(), {Kind::kInt16, 4}, loc);
}

}  // namespace

Vec<Float32, 4> mfma_f32_16x16x32_fp8(const Int64& a, const Int64& b, const Vec<Float32, 4>& c, Loc loc) {
  return Vec<Float32, 4>(Raw{mfma(Op::mfma_f32_16x16x32_fp8_fp8, a.get(), b.get(), c.get(), loc)});
}

Vec<Float32, 16> mfma_f32_32x32x16_fp8(const Int64& a, const Int64& b, const Vec<Float32, 16>& c, Loc loc) {
  return Vec<Float32, 16>(Raw{mfma(Op::mfma_f32_32x32x16_fp8_fp8, a.get(), b.get(), c.get(), loc)});
}

Vec<Float32, 4> mfma_f32_16x16x16_bf16(const Vec<BFloat16, 4>& a, const Vec<BFloat16, 4>& b, const Vec<Float32, 4>& c,
                                       Loc loc) {
  return Vec<Float32, 4>(Raw{mfma(Op::mfma_f32_16x16x16_bf16, as_words(a, loc), as_words(b, loc), c.get(), loc)});
}

Vec<Float32, 16> mfma_f32_32x32x8_bf16(const Vec<BFloat16, 4>& a, const Vec<BFloat16, 4>& b, const Vec<Float32, 16>& c,
                                       Loc loc) {
  return Vec<Float32, 16>(Raw{mfma(Op::mfma_f32_32x32x8_bf16, as_words(a, loc), as_words(b, loc), c.get(), loc)});
}

Vec<Float32, 4> mfma_f32_16x16x32_bf16(const Vec<BFloat16, 8>& a, const Vec<BFloat16, 8>& b, const Vec<Float32, 4>& c,
                                       Loc loc) {
  return Vec<Float32, 4>(Raw{mfma(Op::mfma_f32_16x16x32_bf16, a.get(), b.get(), c.get(), loc)});
}

Vec<Float32, 16> mfma_f32_32x32x16_bf16(const Vec<BFloat16, 8>& a, const Vec<BFloat16, 8>& b, const Vec<Float32, 16>& c,
                                        Loc loc) {
  return Vec<Float32, 16>(Raw{mfma(Op::mfma_f32_32x32x16_bf16, a.get(), b.get(), c.get(), loc)});
}

namespace detail {

llvm::Value* mfma_scaled(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* c, MxFormat format_a, MxFormat format_b,
                         int byte_a, llvm::Value* scale_a, int byte_b, llvm::Value* scale_b, Loc loc) {
  llvm::Value* product =
      emit::call(op, {{Kind::kInt32, dwords_of(format_a)}, {Kind::kInt32, dwords_of(format_b)}},
                 {a, b, c, emit::immediate(static_cast<int>(format_a)), emit::immediate(static_cast<int>(format_b)),
                  emit::immediate(byte_a), scale_a, emit::immediate(byte_b), scale_b},
                 loc);
  // LLVM 22.1.8 sinks a scaled MFMA whose result is used only under a divergent branch into that branch. Its operands
  // are then computed for the active lanes only, while the MFMA reads all of them.
  return emit::pin(product, loc);
}

}  // namespace detail
}  // namespace monojit::ir
