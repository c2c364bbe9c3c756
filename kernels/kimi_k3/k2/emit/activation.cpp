#include "kernels/kimi_k3/k2/emit/activation.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr float kMinusLog2E = -0x1.715476p+0F;
constexpr float kMinusTwoLog2E = -0x1.715476p+1F;
constexpr float kSixth = 0x1.555556p-3F;        // 0x3E2AAAAB
constexpr float kTwentyFifth = 0x1.47AE14p-5F;  // 0x3D23D70A
constexpr int kMaxCode = 254;

Float32 decay(const Float32& x) { return exp2(abs(x) * kMinusTwoLog2E); }

// tanh of the shared experts and of the routed ones.
Float32 exact_tanh(const Float32& x) {
  const Float32 e = decay(x);
  const Float32 y = (1.0F - e) / (1.0F + e);
  return select(x < 0.0F, -y, y);
}
Float32 quick_tanh(const Float32& x) {
  const Float32 e = decay(x);
  const Float32 y = (1.0F - e) * rcp(1.0F + e);
  return select(x > 0.0F, y, -y);
}

}  // namespace

Float32 sigmoid(const Float32& x) { return rcp(1.0F + exp2(x * kMinusLog2E)); }

Float32 shared_activation_of(const Float32& gate, const Float32& up) {
  const Float32 a = exact_tanh(gate * 0.25F) * 2.0F;
  return (a * (exact_tanh(gate * 0.5F) + 1.0F)) * (exact_tanh(up * kTwentyFifth) * 25.0F);
}

Float32 routed_activation_of(const Float32& gate, const Float32& up) {
  const Float32 a = (quick_tanh(gate * 0.25F) * 4.0F) * sigmoid(gate);
  return (a * 25.0F) * quick_tanh(up * kTwentyFifth);
}

Int32 scale_code(const Float32& largest) {
  const Int32 bits = bitcast<Int32>(largest * kSixth);
  return min(shr_logical(bits + 0x7FFFFF, 23) & 0xFF, kMaxCode);
}

Float32 scale_of(const Int32& code) { return bitcast<Float32>(code << 23); }

}  // namespace monojit::kernels::kimi_k3
