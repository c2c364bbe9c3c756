#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/kimi_k3/k2/reference/addresses.h"
#include "kernels/kimi_k3/k2/reference/group.h"

/// Single operands of a rank, for directed tests.
namespace monojit::kernels::kimi_k3 {

/// An element of a bf16 or f32 tensor.
void set_operand(const RankMemory& rank, std::string_view name, std::int64_t index, float value);
/// All its elements.
void fill_operand(const RankMemory& rank, std::string_view name, float value);
/// An FP4 code and its scale's in w13 or w2 (`matrix` says which) of an expert.
void set_expert_operand(const RankMemory& rank, const ExpertMatrix& matrix, int expert, int row, int column,
                        unsigned code, unsigned scale_code);

}  // namespace monojit::kernels::kimi_k3
