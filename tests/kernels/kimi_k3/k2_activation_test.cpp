#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "kernels/kimi_k3/k2/reference/activation.h"
#include "kernels/kimi_k3/k2/reference/wide_experts.h"

namespace monojit::kernels::kimi_k3 {
namespace {

constexpr double kWorstSlack = 1e-3;  // of values up to 100, whose bf16 step is 0.5
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("the shared activation saturates at 100") {
  CHECK(shared_activation(kInfinity, kInfinity) == 100);
  CHECK(shared_activation(kInfinity, -kInfinity) == -100);
  const float off = shared_activation(-kInfinity, kInfinity);
  CHECK(off == 0);
  CHECK(std::signbit(off));
  CHECK_FALSE(std::signbit(shared_activation(-kInfinity, -kInfinity)));
}

TEST_CASE("zeros keep the signs of the two forms of tanh") {
  for (const float zero : {0.0F, -0.0F}) {
    CHECK_FALSE(std::signbit(shared_activation(zero, 1)));  // T(+-0) = +0
    CHECK(std::signbit(expert_activation(zero, 1)));        // T'(+-0) = -0
    CHECK_FALSE(std::signbit(expert_activation(zero, zero)));
  }
}

TEST_CASE("a sigmoid is 0 where its power overflows") {
  CHECK(sigmoid(-90) == 0);
  CHECK(sigmoid(0) == 0.5F);
  CHECK(sigmoid(100) == 1);
}

TEST_CASE("both activations are SiTU within their bounds") {
  for (float gate = -40; gate <= 40; gate += 0.37F) {
    for (float up = -60; up <= 60; up += 1.3F) {
      const WideValue shared = wide_shared_activation(gate, up);
      CHECK(std::fabs(static_cast<double>(shared_activation(gate, up)) - shared.value) <= shared.slack);
      const WideValue expert = wide_expert_activation({gate, 0}, {up, 0});
      CHECK(std::fabs(static_cast<double>(expert_activation(gate, up)) - expert.value) <= expert.slack);
      CHECK(shared.slack < kWorstSlack);
      CHECK(expert.slack < kWorstSlack);
    }
  }
}

TEST_CASE("the shared and the routed form are one function") {
  // 2 T(g/4) (1 + T(g/2)) = 4 T(g/4) sigmoid(g).
  for (const double gate : {-7.0, -1.5, 0.25, 3.0}) {
    const double shared = wide_shared_activation(gate, 5).value;
    const double expert = wide_expert_activation({gate, 0}, {5, 0}).value;
    CHECK(std::fabs(shared - expert) < 1e-12);
  }
}

}  // namespace
}  // namespace monojit::kernels::kimi_k3
