#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/common/reference/fp8.h"

namespace monojit::kernels::reference {

/// How a matrix core adds up the products of one instruction. Vendors publish none of it.
enum class MatrixModel : std::uint8_t {
  kCdna3,     ///< groups with truncated alignment, fitted to MI300X by others; assumed for gfx950 as well
  kFmaChain,  ///< one f32 fused multiply-add after the other, k rising
  kExact,     ///< the addend and the exact sum of all products, rounded once
};

/// "cdna3", "fma-chain" or "exact". Throws UserError naming the choices for anything else.
MatrixModel matrix_model(std::string_view name);

inline constexpr int kMfmaRows = 16;
inline constexpr int kMfmaK = 32;

/// The A operand of one MFMA f32 16x16x32 FP8, decoded: [k][row].
struct Fp8Rows {
  std::array<std::array<float, kMfmaRows>, kMfmaK> value;
  std::array<std::array<float, kMfmaRows>, kMfmaK> power;

  void set(int k, int row, std::uint8_t byte, const Fp8Table& table) {
    value[k][row] = table.value[byte];
    power[k][row] = table.power[byte];
  }
};

/// One column of the B operand, decoded.
struct Fp8Column {
  std::array<float, kMfmaK> value;
  std::array<float, kMfmaK> power;

  void set(int k, std::uint8_t byte, const Fp8Table& table) {
    value[k] = table.value[byte];
    power[k] = table.power[byte];
  }
};

using MfmaColumn = std::array<float, kMfmaRows>;

/// c += a * b for one column, by `model`. A NaN operand gives NaN.
void mfma_fp8(MatrixModel model, const Fp8Rows& a, const Fp8Column& b, MfmaColumn& c);

}  // namespace monojit::kernels::reference
