#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/common/family.h"

namespace monojit::kernels::kimi_k3 {

/// Pair `pair` of `region` in words: its indices, and which rank or workgroup puts it there.
std::string describe_wait(const BuildKey& key, std::string_view region, std::uint32_t pair);

/// Who puts it there; nothing where the region is unknown or has no such pair.
std::optional<WaitSource> wait_source(const BuildKey& key, std::string_view region, std::uint32_t pair);

}  // namespace monojit::kernels::kimi_k3
