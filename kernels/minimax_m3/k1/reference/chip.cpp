#include "kernels/minimax_m3/k1/reference/chip.h"

#include <string>

#include "kernels/common/error.h"

namespace monojit::kernels::minimax_m3 {

Chip chip_rules(std::string_view arch) {
  if (arch == "gfx950") return {reference::Fp8Format::kOcp, 448, 448, 32};
  if (arch == "gfx942") return {reference::Fp8Format::kFnuz, 224, 240, 16};
  throw UserError("minimax_m3.k1 has no reference for \"" + std::string(arch) + "\": use gfx950 or gfx942");
}

}  // namespace monojit::kernels::minimax_m3
