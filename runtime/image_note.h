#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kernel_record.h"

/// The note of a code object that tells loaders what its kernels are: msgpack, code object version 3 and later.
namespace monojit::runtime {

/// What the note says of the kernel with this descriptor ("NAME.kd"), as a record: its symbol is the descriptor's, and
/// what no note has (code_bytes, times, digest, warnings) stays empty. Nothing when the note lacks it or is no such.
std::optional<KernelRecord> noted_kernel(std::span<const std::byte> note, std::string_view descriptor);

/// A note of this kernel alone.
std::vector<std::byte> note_of(const KernelRecord& kernel, std::string_view descriptor);

}  // namespace monojit::runtime
