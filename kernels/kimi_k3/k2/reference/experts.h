#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/matrix_core_mx.h"
#include "kernels/kimi_k3/model.h"

namespace monojit::kernels::kimi_k3 {

/// A row in MX FP4: eight values a word, the first in the lowest nibble, and a scale code for each 32.
struct MxRow {
  std::vector<std::uint32_t> words;
  std::vector<std::uint8_t> codes;

  /// Decoded for the matrix core.
  std::vector<reference::MxColumnBlock> blocks() const;
  /// Value `i` with its scale.
  float value(std::size_t i) const;
};

/// By the largest magnitude of each 32 (specification §8.10, §8.12).
MxRow quantise_latent(std::span<const reference::BFloat16Bits> row);
MxRow quantise_intermediate(std::span<const float> row);

/// One rank's experts, all of them: the arguments' memory.
struct ExpertWeights {
  std::span<const std::uint8_t> w13, w13s, w2, w2s;
};

/// Gate and up of one expert on one latent row, before the activation (specification §8.12).
struct GateUp {
  std::array<float, kIntermediate> gate{};
  std::array<float, kIntermediate> up{};
};
GateUp gate_up(reference::MatrixModel model, const ExpertWeights& weights, int expert,
               std::span<const reference::MxColumnBlock> latent);

/// One expert's latent result, not weighted yet (specification §8.13).
std::array<float, kLatent> down(reference::MatrixModel model, const ExpertWeights& weights, int expert,
                                std::span<const reference::MxColumnBlock> intermediate);

}  // namespace monojit::kernels::kimi_k3
