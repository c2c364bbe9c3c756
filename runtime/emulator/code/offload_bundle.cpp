#include "runtime/emulator/code/offload_bundle.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/emulator/code/elf_image.h"
#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr u64 kMostEntries = 4096;
constexpr u64 kMostTargetBytes = 256;

u64 word_at(const u8* place) {
  u64 value = 0;
  std::memcpy(&value, place, sizeof value);
  return value;
}

/// "gfx950" of "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-".
std::string_view chip_of(std::string_view target) {
  const std::size_t at = target.rfind("gfx");
  if (at == std::string_view::npos) return {};
  target.remove_prefix(at);
  return target.substr(0, target.find(':'));
}

/// The emulated chips have xnack off and sramecc on.
bool runs_on(std::string_view target, const ChipLimits& chip) {
  const auto has = [&](std::string_view feature) { return target.find(feature) != std::string_view::npos; };
  return chip_of(target) == chip.arch && !has(":xnack+") && !has(":sramecc-");
}

std::span<const u8> entry_of(const u8* bundle, const ChipLimits& chip) {
  const u64 count = word_at(bundle + kMagic.size());
  if (count > kMostEntries)
    throw Failure(FailureKind::kInvalidImage, fmt::format("offload bundle: it claims {} entries", count));
  const u8* place = bundle + kMagic.size() + sizeof(u64);
  std::vector<std::string> targets;
  for (u64 i = 0; i < count; ++i) {
    const u64 offset = word_at(place);
    const u64 bytes = word_at(place + 8);
    const u64 target_bytes = word_at(place + 16);
    if (target_bytes > kMostTargetBytes)
      throw Failure(FailureKind::kInvalidImage, fmt::format("offload bundle: entry {} has no readable target", i));
    const std::string_view target(reinterpret_cast<const char*>(place + 24), target_bytes);
    if (runs_on(target, chip) && bytes > 0) return {bundle + offset, bytes};
    targets.emplace_back(target);
    place += 24 + target_bytes;
  }
  throw Failure(FailureKind::kWrongChip,
                fmt::format("offload bundle without code for an emulated {}; it has: {}. Build for {} or set "
                            "MONOJIT_EMULATOR_CHIP",
                            chip.arch, fmt::join(targets, ", "), chip.arch));
}

}  // namespace

std::span<const u8> code_object_in(const void* image, const ChipLimits& chip) {
  const auto* const bytes = static_cast<const u8*>(image);
  if (std::memcmp(image, kCompressedMagic.data(), kCompressedMagic.size()) == 0) {
    throw Failure(FailureKind::kInvalidImage,
                  "a compressed offload bundle (CCOB), which the emulator does not unpack: build with "
                  "-no-offload-compress, or unpack it with clang-offload-bundler -unbundle");
  }
  if (std::strncmp(static_cast<const char*>(image), kMagic.data(), kMagic.size()) != 0)
    return {bytes, elf_file_bytes(image)};
  const std::span<const u8> entry = entry_of(bytes, chip);
  if (entry.size() < 4 || elf_file_bytes(entry.data()) > entry.size())
    throw Failure(FailureKind::kInvalidImage, fmt::format("offload bundle: its code for {} is truncated", chip.arch));
  return entry;
}

}  // namespace monojit::emulator
