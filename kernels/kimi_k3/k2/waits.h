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

/// Rises from launch to launch up to 2^kTagBits: a layer's front half comes before its back half, and that before the
/// next layer.
std::uint32_t place_of_tag(std::uint32_t tag);

}  // namespace monojit::kernels::kimi_k3
