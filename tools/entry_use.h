#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cache/entry.h"
#include "kernels/common/family.h"
#include "runtime/jit.h"
#include "tools/report.h"

/// What an entry of the cache is worth to who wants to run its kernel, beyond being sound as the cache has it.
namespace monojit::tools {

/// Whether this build would look the key up: one of another generator or toolchain only misses.
bool is_current(const cache::Key& key);

/// Takes a kernel; throws CodeObjectError or CompileError when it can't.
using KernelUse = std::function<void(const runtime::CompiledKernel& kernel)>;

/// As Jit::get(), but what the cache has and no device would load, or `use` can't take, is built anew. Throws
/// CodeObjectError or what `use` throws where that may not be, or is no help.
runtime::Obtained get_loadable(runtime::Jit& jit, const kernels::BuildKey& key, std::string_view arch,
                               const KernelUse& use = {});

/// Why a kernel that is read from `entry` could not be loaded: its record or its image is none. Empty: it could, as far
/// as can be told without a device, or this build would not look it up.
std::string use_problem(const cache::Entry& entry);

/// An entry's metadata as JSON; null when it is none that is printed as it is read, or nested deeper than any record.
Json record_json(std::string_view metadata);

}  // namespace monojit::tools
