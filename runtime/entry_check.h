#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cache/entry.h"
#include "kernels/common/family.h"
#include "runtime/kernel_record.h"

namespace monojit::runtime {

/// Throws CodeObjectError when no device of `arch` would load the kernel of `key` from these, as far as can be told
/// without one, or when the record says otherwise than the code object.
void check_loadable(const kernels::BuildKey& key, std::string_view arch, const KernelRecord& record,
                    std::span<const std::byte> code_object);

/// Why such a kernel can't be had from `entry`, its record among the reasons, to go behind its file's name; empty: it
/// can.
std::string entry_problem(const kernels::BuildKey& key, std::string_view arch, const cache::Entry& entry);

}  // namespace monojit::runtime
