#include "kernels/kimi_k3/k2/reference/activation.h"

#include <bit>
#include <cmath>

#include "kernels/common/reference/float32.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr float kMinusLog2e = std::bit_cast<float>(0xBFB8AA3BU);
constexpr float kMinusTwoLog2e = std::bit_cast<float>(0xC038AA3BU);
constexpr float kInverseLinearBeta = std::bit_cast<float>(0x3D23D70AU);  // 1 / 25
constexpr float kLinearBeta = 25;

float tanh_by_division(float x) {
  const float e = reference::exp2(std::fabs(x) * kMinusTwoLog2e);
  const float y = (1 - e) / (1 + e);
  return x < 0 ? -y : y;
}

float tanh_by_reciprocal(float x) {
  const float e = reference::exp2(std::fabs(x) * kMinusTwoLog2e);
  const float y = (1 - e) * reference::rcp(1 + e);
  return x > 0 ? y : -y;
}

}  // namespace

float sigmoid(float x) { return reference::rcp(1 + reference::exp2(x * kMinusLog2e)); }

float shared_activation(float gate, float up) {
  float a = 2 * tanh_by_division(gate * 0.25F);
  a = a * (1 + tanh_by_division(gate * 0.5F));
  return a * (kLinearBeta * tanh_by_division(up * kInverseLinearBeta));
}

float expert_activation(float gate, float up) {
  const float a = (4 * tanh_by_reciprocal(gate * 0.25F)) * sigmoid(gate);
  return (a * kLinearBeta) * tanh_by_reciprocal(up * kInverseLinearBeta);
}

}  // namespace monojit::kernels::kimi_k3
