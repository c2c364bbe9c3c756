// Offload bundles ("fat binaries"): several code objects in one file, of which the emulated chip takes its own.
#pragma once

#include <span>

#include "runtime/emulator/chip.h"

namespace monojit::emulator {

/// The code object for `chip` that `image` is or holds: an ELF file, or an uncompressed bundle
/// (`__CLANG_OFFLOAD_BUNDLE__`: magic, a count of entries, then offset, size and target of each).
/// HIP's load calls give no size, so the headers of the file itself tell it.
/// Throws Failure: kInvalidImage for what is neither, or a compressed bundle; kWrongChip, listing the targets, for a
/// bundle without an entry for the chip.
[[nodiscard]] std::span<const u8> code_object_in(const void* image, const ChipLimits& chip);

}  // namespace monojit::emulator
