#pragma once

#include "kernels/kimi_k3/k2/emit/context.h"

namespace monojit::kernels::kimi_k3 {

/// SiTU, the gated activation of routed and shared experts: specification §8.9 and §8.12. Shared: correctly rounded
/// divisions, sigmoid by tanh. Routed: bare reciprocals.
Float32 shared_activation_of(const Float32& gate, const Float32& up);
Float32 routed_activation_of(const Float32& gate, const Float32& up);

/// 1 / (1 + 2^(-x log2 e)), by the bare reciprocal.
Float32 sigmoid(const Float32& x);

/// The E8M0 code of the scale of an MX block whose largest magnitude is `largest`: rule C of §8.10.
Int32 scale_code(const Float32& largest);
/// The scale of a code, for conversions.
Float32 scale_of(const Int32& code);

}  // namespace monojit::kernels::kimi_k3
