#pragma once

#include <optional>
#include <span>
#include <string>

#include "runtime/arguments.h"
#include "runtime/loaded_kernel.h"

namespace monojit::runtime {

/// What bounded waits of launches with these arguments left behind (kernels/common/health.h): a line for each workgroup
/// that gave up, with what it waited for. Nothing when none did, or the kernel has no bounded waits. Later launches on
/// the same memory keep the words, so that one look after many launches is enough. Waits for the null stream alone: the
/// caller has synchronised its own. Throws DeviceError when the memory can't be read.
std::optional<std::string> poll_health(const LoadedKernel& kernel, std::span<const ArgumentValue> values);

/// Zeroes the words, as the host has to before the first launch and after a failure.
void clear_health(const LoadedKernel& kernel, std::span<const ArgumentValue> values);

}  // namespace monojit::runtime
