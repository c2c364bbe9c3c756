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

/// The launch whose pairs a tag marks; nothing: no launch of the model has it.
std::optional<TaggedLaunch> launch_of_tag(std::uint32_t tag);

/// Whether a tag's launch comes before another's, of which it is less than 2^21 epochs away.
bool tag_before(std::uint32_t tag, std::uint32_t other);

}  // namespace monojit::kernels::kimi_k3
