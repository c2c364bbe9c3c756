#pragma once

#include "ir/value.h"

namespace monojit::ir {

// Matrix cores: D = A B + C, a wave together. EXEC is ignored: every lane takes part. Lane maps, with lane = 16 g + c
// for 16x16 and lane = 32 g + c for 32x32 shapes, "item" the position of an element in the lane's operand:
//
// 16x16xK: A item i of lane (g, c) = A[row c][k = g * (K / 4) + i]
//          B item i of lane (g, c) = B[k = g * (K / 4) + i][column c]
//          C / D item e            = [row 4 g + e][column c]
// 32x32xK: A item i of lane (g, c) = A[row c][k = g * (K / 2) + i], B likewise
//          C / D item e            = [row 8 (e / 4) + 4 g + e % 4][column c]

/// FP8 E4M3 of the chip's format: 8 bytes a lane, k = 8 g + byte.
Vec<Float32, 4> mfma_f32_16x16x32_fp8(const Int64& a, const Int64& b, const Vec<Float32, 4>& c,
                                      Loc loc = Loc::current());
/// k = 8 g + byte.
Vec<Float32, 16> mfma_f32_32x32x16_fp8(const Int64& a, const Int64& b, const Vec<Float32, 16>& c,
                                       Loc loc = Loc::current());

/// k = 4 g + item.
Vec<Float32, 4> mfma_f32_16x16x16_bf16(const Vec<BFloat16, 4>& a, const Vec<BFloat16, 4>& b, const Vec<Float32, 4>& c,
                                       Loc loc = Loc::current());
/// k = 4 g + item.
Vec<Float32, 16> mfma_f32_32x32x8_bf16(const Vec<BFloat16, 4>& a, const Vec<BFloat16, 4>& b, const Vec<Float32, 16>& c,
                                       Loc loc = Loc::current());
/// k = 8 g + item. gfx950.
Vec<Float32, 4> mfma_f32_16x16x32_bf16(const Vec<BFloat16, 8>& a, const Vec<BFloat16, 8>& b, const Vec<Float32, 4>& c,
                                       Loc loc = Loc::current());
/// k = 8 g + item. gfx950.
Vec<Float32, 16> mfma_f32_32x32x16_bf16(const Vec<BFloat16, 8>& a, const Vec<BFloat16, 8>& b, const Vec<Float32, 16>& c,
                                        Loc loc = Loc::current());

/// Operand formats of the scaled forms, by their encoding in the instruction.
enum class MxFormat : int { kFp8 = 0, kBf8 = 1, kFp6 = 2, kBf6 = 3, kFp4 = 4 };
/// 32 values a lane: 8, 6 or 4 dwords.
constexpr int dwords_of(MxFormat format) {
  return format == MxFormat::kFp4 ? 4 : format == MxFormat::kFp6 || format == MxFormat::kBf6 ? 6 : 8;
}
template <MxFormat F>
using MxOperand = Vec<Int32, dwords_of(F)>;

/// One E8M0 scale a block of 32 k, in byte `Byte` of a lane's register; the scale of block j is taken from lane group
/// j.
template <int Byte = 0>
struct MxScale {
  static_assert(Byte >= 0 && Byte < 4);
  Int32 packed;
};

namespace detail {
llvm::Value* mfma_scaled(Op op, llvm::Value* a, llvm::Value* b, llvm::Value* c, MxFormat format_a, MxFormat format_b,
                         int byte_a, llvm::Value* scale_a, int byte_b, llvm::Value* scale_b, Loc loc);
}  // namespace detail

/// 16x16x128 with block scales. 8-bit data: items 0..15 are k = 16 g + item, items 16..31 are k = 64 + 16 g + item -
/// 16; 6- and 4-bit data: k = 32 g + item. A and B may differ in format. gfx950.
template <MxFormat A, MxFormat B, int ByteA, int ByteB>
Vec<Float32, 4> mfma_scale_f32_16x16x128(const MxOperand<A>& a, const MxOperand<B>& b, const Vec<Float32, 4>& c,
                                         const MxScale<ByteA>& scale_a, const MxScale<ByteB>& scale_b,
                                         Loc loc = Loc::current()) {
  return Vec<Float32, 4>(Raw{detail::mfma_scaled(Op::mfma_scale_f32_16x16x128_f8f6f4, a.get(), b.get(), c.get(), A, B,
                                                 ByteA, scale_a.packed.get(), ByteB, scale_b.packed.get(), loc)});
}
/// 32x32x64 with block scales. 8-bit data: items 16..31 are 32 k further than items 0..15. gfx950.
template <MxFormat A, MxFormat B, int ByteA, int ByteB>
Vec<Float32, 16> mfma_scale_f32_32x32x64(const MxOperand<A>& a, const MxOperand<B>& b, const Vec<Float32, 16>& c,
                                         const MxScale<ByteA>& scale_a, const MxScale<ByteB>& scale_b,
                                         Loc loc = Loc::current()) {
  return Vec<Float32, 16>(Raw{detail::mfma_scaled(Op::mfma_scale_f32_32x32x64_f8f6f4, a.get(), b.get(), c.get(), A, B,
                                                  ByteA, scale_a.packed.get(), ByteB, scale_b.packed.get(), loc)});
}

}  // namespace monojit::ir
