#pragma once

namespace monojit::kernels::kimi_k3 {

/// SiTU of the shared expert (specification §8.9), not rounded to bf16 yet.
float shared_activation(float gate, float up);

/// SiTU of the routed experts (specification §8.12), by reciprocals; -0 of a zero.
float expert_activation(float gate, float up);

/// 1 / (1 + 2^(-x log2 e)) by a reciprocal: 0 where the power overflows.
float sigmoid(float x);

}  // namespace monojit::kernels::kimi_k3
