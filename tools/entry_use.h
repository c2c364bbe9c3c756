#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cache/entry.h"
#include "kernels/common/family.h"
#include "runtime/jit.h"
#include "runtime/kernel_record.h"
#include "tools/report.h"

/// What an entry of the cache is worth to who wants to run its kernel, beyond being sound as the cache has it.
namespace monojit::tools {

/// Whether this build would look the key up: one of another generator or toolchain only misses.
bool is_current(const cache::Key& key);

/// Throws runtime::CodeObjectError when no device would load such a kernel, as far as can be told without one.
void check_loadable(const kernels::Family& family, const runtime::KernelRecord& record,
                    std::span<const std::byte> code_object);

/// As Jit::get(), but what the cache has and no device would load is built anew. Throws CodeObjectError where that may
/// not be, or is no help.
runtime::Obtained get_loadable(runtime::Jit& jit, const kernels::BuildKey& key, std::string_view arch);

/// Why a kernel that is read from `entry` could not be loaded: its record or its image is none. Empty: it could, as far
/// as can be told without a device, or this build would not look it up.
std::string use_problem(const cache::Entry& entry);

/// An entry's metadata as JSON; null when it is none that is printed as it is read, or nested deeper than any record.
Json record_json(std::string_view metadata);

}  // namespace monojit::tools
