// The matrix core: every dense MFMA of gfx942 and gfx950, as functions on register rows.
//
// A register row is what one VGPR (or AGPR) holds for the 64 lanes of a wave: 64 consecutive 32-bit words. Row r of a
// tuple begins 64*r words after the tuple's first row. The lane maps are in matrix_shape.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/emulator/numerics/host_isa.h"

namespace monojit::emulator {

enum class Chip : std::uint8_t { kGfx942, kGfx950 };

/// How a matrix core adds up its products. What AMD's cores do is not documented; `kCdna3` is a published model fitted
/// to MI300X, and an assumption for gfx950. A kernel that is right under one model only is not right.
enum class MatrixModel : std::uint8_t {
  kCdna3,     ///< groups of products summed with 24 fraction bits; scaled forms: one rounding for each block of 32 k
  kFmaChain,  ///< one f32 fused multiply-add for each k, rising
  kExact,     ///< the whole sum exactly, rounded once
};

/// Operands of one MFMA. EXEC plays no part: all 64 lanes are read and written. `d` may be the same rows as a, b or c,
/// or overlap them: everything is read before anything is written.
struct TileArguments {
  const std::uint32_t* a;  ///< first row of A's tuple
  const std::uint32_t* b;  ///< first row of B's tuple
  const std::uint32_t* c;  ///< first row of C's tuple, or null: every element of C is `c_constant`
  std::uint32_t* d;        ///< first row of D's tuple

  const std::uint32_t* scale_a = nullptr;  ///< v_mfma_scale_*: row with A's E8M0 bytes; null means scale 1.0
  const std::uint32_t* scale_b = nullptr;
  std::uint64_t c_constant = 0;   ///< bits of an inline constant as C: 32 of them, or 64 for f64
  std::uint8_t scale_byte_a = 0;  ///< which byte of scale_a: op_sel[0] + 2*op_sel_hi[0]
  std::uint8_t scale_byte_b = 0;  ///< which byte of scale_b: op_sel[1] + 2*op_sel_hi[1]
  std::uint8_t cbsz = 0;          ///< f8f6f4: format of A (0 fp8, 1 bf8, 2 e2m3, 3 e3m2, 4 fp4); else broadcast of A
  std::uint8_t abid = 0;          ///< which block of A is broadcast
  std::uint8_t blgp = 0;          ///< f8f6f4: format of B; f64: negate A, B, C (bits 0, 1, 2); else lane pattern of B
  bool flush_f32_inputs = false;  ///< MODE's f32 denormal bits flush inputs (only the forms with f32 inputs look at it)
  bool fp16_ovfl = false;         ///< MODE.FP16_OVFL: an overflowing result becomes the largest finite value
};

using TileFunction = void (*)(const TileArguments&);

/// The function for an MFMA, by its assembler mnemonic ("v_mfma_f32_16x16x32_bf16",
/// "v_mfma_scale_f32_16x16x128_f8f6f4"; the older spelling "v_mfma_f32_16x16x16bf16_1k" too), built for the best
/// instruction set this host has. Null if the chip has no such MFMA or it is not emulated (the sparse v_smfmac_*
/// forms).
[[nodiscard]] TileFunction find_tile(std::string_view mnemonic, Chip chip, MatrixModel model);

/// The same for a given host instruction set, which the host must have.
[[nodiscard]] TileFunction find_tile(std::string_view mnemonic, Chip chip, MatrixModel model, HostIsa isa);

/// The best instruction set of this host among those built; throws std::runtime_error if it lacks x86-64-v3.
[[nodiscard]] HostIsa best_host_isa();
[[nodiscard]] bool host_has(HostIsa isa);

}  // namespace monojit::emulator
