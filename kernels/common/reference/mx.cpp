#include "kernels/common/reference/mx.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace monojit::kernels::reference {

float fp4_value(unsigned code) {
  constexpr float kValues[8] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  const float size = kValues[code & 7U];
  return (code & 8U) != 0 ? -size : size;
}

unsigned fp4_code(float value) {
  if (std::isnan(value)) return 0;
  const float size = std::fabs(value);
  unsigned code = 0;
  // Between codes n and n + 1 the middle goes to the even one.
  for (unsigned n = 0; n < 7; ++n) {
    const float middle = 0.5F * (fp4_value(n) + fp4_value(n + 1));
    if (size > middle || (size == middle && n % 2 == 1)) code = n + 1;
  }
  return code | (std::signbit(value) ? 8U : 0U);
}

float e8m0_value(unsigned code) {
  if (code == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0F, static_cast<int>(code) - 127);
}

unsigned mx_scale_code(float amax) {
  constexpr float kSixth = std::bit_cast<float>(0x3E2AAAABU);
  const auto bits = std::bit_cast<std::uint32_t>(amax * kSixth);
  return std::min((bits + 0x7FFFFFU) >> 23 & 0xFFU, 254U);
}

unsigned fp4_scaled_code(float value, unsigned code) {
  // Double holds every quotient exactly; beyond the range of float it saturates or vanishes either way.
  const double quotient = std::ldexp(static_cast<double>(value), 127 - static_cast<int>(code));
  return fp4_code(static_cast<float>(quotient));
}

}  // namespace monojit::kernels::reference
