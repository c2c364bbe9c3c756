#pragma once

#include <string_view>

#include "kernels/common/reference/fp8.h"

namespace monojit::kernels::minimax_m3 {

/// What differs between the chips (specification §13).
struct Chip {
  reference::Fp8Format format = reference::Fp8Format::kOcp;
  float activation_max = 448;  ///< scaled activations reach this; FNUZ: half of OCP's, so that the bytes are the same
  float cache_max = 448;       ///< K, V and index K
  int bf16_mfma_k = 32;        ///< k values of a bf16 MFMA: 16 needs two of them for 32
};

/// Throws UserError for anything but "gfx950" and "gfx942".
Chip chip_rules(std::string_view arch);

}  // namespace monojit::kernels::minimax_m3
