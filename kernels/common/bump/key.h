#pragma once

#include "kernels/common/family.h"

namespace monojit::kernels::bump {

inline constexpr int kThreads = 64;

inline constexpr Argument kArguments[] = {
    {"epoch", ArgumentType::kPointer, 4, true, "int32 [1]: grows by 1, from 2^31 - 1 to 0"},
};

extern const Family kBump;

}  // namespace monojit::kernels::bump
