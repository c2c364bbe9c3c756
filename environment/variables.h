#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The environment variables of this project, in one table that all who read one go through. Below every other layer.
namespace monojit::environment {

enum class Id : std::uint8_t {
  kCacheDir,
  kCacheMaxSize,
  kCacheMaxAge,
  kCacheUmask,
  kCacheReadonly,
  kCacheRemote,
  kHipLibrary,
  kComgrLibrary,
  kLibraryDir,
  kEmulatorChip,
  kEmulatorDevices,
  kEmulatorThreads,
  kEmulatorMatrix,
  kEmulatorMemory,
  kEmulatorChecks,
  kEmulatorSeed,
  kEmulatorAlignment,
  kEmulatorHostIsa,
  kEmulatorStall,
  kEmulatorSkew,
  kEmulatorLimit,
};

struct Variable {
  Id id;
  const char* name;
  std::string_view meaning;
  std::string_view fallback;  ///< what holds when it is not set, in words
};

inline constexpr std::string_view kPrefix = "MONOJIT_";

/// In the order of Id.
inline constexpr Variable kVariables[] = {
    {Id::kCacheDir, "MONOJIT_CACHE_DIR", "folder of compiled kernels",
     "$XDG_CACHE_HOME/monojit/kernels, else ~/.cache/monojit/kernels"},
    {Id::kCacheMaxSize, "MONOJIT_CACHE_MAX_SIZE", "most bytes that the folder may take, such as 500M; 0: no limit",
     "5G"},
    {Id::kCacheMaxAge, "MONOJIT_CACHE_MAX_AGE", "age at which entries that nobody used go, such as 30d; 0: never", "0"},
    {Id::kCacheUmask, "MONOJIT_CACHE_UMASK", "octal mask of the permissions that files and folders get",
     "as the folder: 077 (for this user alone) unless a group may write there"},
    {Id::kCacheReadonly, "MONOJIT_CACHE_READONLY",
     "folders and archives that are looked into after the user's, with colons between them", "none"},
    {Id::kCacheRemote, "MONOJIT_CACHE_REMOTE", "URL of a store that machines share", "none"},
    {Id::kHipLibrary, "MONOJIT_HIP_LIBRARY", "the libamdhip64.so to use, and no other",
     "one that is loaded already, else libamdhip64.so.8, .7, .6"},
    {Id::kComgrLibrary, "MONOJIT_COMGR_LIBRARY", "the libamd_comgr.so to use, and no other",
     "libamd_comgr.so.3, else .2"},
    {Id::kLibraryDir, "MONOJIT_LIBRARY_DIR", "folder of monojit's own libraries and its worker",
     "beside the program, then ../lib"},
    {Id::kEmulatorChip, "MONOJIT_EMULATOR_CHIP", "emulated chip: gfx950 or gfx942; --arch wins", "gfx950"},
    {Id::kEmulatorDevices, "MONOJIT_EMULATOR_DEVICES", "emulated devices, 1 to 16", "1; a group's size for a group"},
    {Id::kEmulatorThreads, "MONOJIT_EMULATOR_THREADS", "host threads of the emulator, 1 to 256", "1"},
    {Id::kEmulatorMatrix, "MONOJIT_EMULATOR_MATRIX", "model of the matrix core: cdna3, fma-chain or exact", "cdna3"},
    {Id::kEmulatorMemory, "MONOJIT_EMULATOR_MEMORY", "coherent or weak memory", "coherent"},
    {Id::kEmulatorChecks, "MONOJIT_EMULATOR_CHECKS", "mistakes to look for, by name with commas, or all", "none"},
    {Id::kEmulatorSeed, "MONOJIT_EMULATOR_SEED", "order of workgroups and delays: a 64-bit number", "1"},
    {Id::kEmulatorAlignment, "MONOJIT_EMULATOR_ALIGNMENT", "what misaligned accesses do: driver or strict", "driver"},
    {Id::kEmulatorHostIsa, "MONOJIT_EMULATOR_HOST_ISA", "avx2 or avx512", "the best that this processor has"},
    {Id::kEmulatorStall, "MONOJIT_EMULATOR_STALL",
     "workgroups that never run: NUMBER, DEVICE:NUMBER or DEVICE:*, with commas", "none"},
    {Id::kEmulatorSkew, "MONOJIT_EMULATOR_SKEW", "devices are held back at random: a 64-bit number, 0 for none", "0"},
    {Id::kEmulatorLimit, "MONOJIT_EMULATOR_LIMIT", "seconds after which a launch is given up", "none"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kVariables); ++i) {
    if (static_cast<std::size_t>(kVariables[i].id) != i) return false;
  }
  return true;
}
static_assert(in_order());

constexpr const char* name(Id id) { return kVariables[static_cast<std::size_t>(id)].name; }

/// From the process's environment; nullptr when it is not set, or empty.
const char* value(Id id);

/// Names of variables that are set, begin with MONOJIT_ and mean nothing; sorted.
std::vector<std::string> unknown();

/// The variable whose name is nearest to `name`, for advice.
const Variable& nearest(std::string_view name);

}  // namespace monojit::environment
