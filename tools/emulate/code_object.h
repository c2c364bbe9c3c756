#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hip/table.h"

/// A file of machine code and what it says about its kernels.
namespace monojit::tools {

/// One argument as the code object describes it.
struct KernelArgument {
  std::string name;  ///< may be empty
  std::string kind;  ///< "global_buffer", "by_value", ...
  std::string type;  ///< "float", where the compiler says it
  std::uint32_t bytes = 0;
  std::uint32_t offset = 0;
};

struct KernelInfo {
  std::string name;
  std::uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;  ///< a lane
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t max_workgroup = 0;
  std::array<std::uint32_t, 3> required_workgroup{};  ///< zeros: none
  std::uint32_t occupancy_items = 0;                  ///< work-items of the workgroups that the next is for
  std::uint32_t workgroups_per_cu = 0;
  std::string occupancy_limit;
  bool described = true;                  ///< whether the object says what the arguments are
  std::vector<KernelArgument> arguments;  ///< those that the caller gives
  std::uint32_t hidden_arguments = 0;     ///< those that the runtime fills in
};

struct CodeObject {
  std::vector<std::byte> bytes;  ///< the ELF file
  std::string arch;              ///< "gfx950"
  std::vector<KernelInfo> kernels;
};

/// The AMDGPU ELF file `file`, or the entry of an offload bundle for a chip that the emulator can be; `arch`, if not
/// empty, is the chip to pick. Throws UserError naming the file and the reason.
CodeObject read_code_object(const std::filesystem::path& file, std::string_view arch,
                            const runtime::HipTable& emulator);

/// The kernel of that name, or the only one if it is empty. Throws UserError listing the kernels there are.
const KernelInfo& find_kernel(const CodeObject& object, const std::string& name, const std::filesystem::path& file);

/// The part of an offload bundle ("__CLANG_OFFLOAD_BUNDLE__") whose entry id ends in the processor `arch`; an empty one
/// takes the first entry for gfx950 or gfx942. Throws UserError naming `file`, and the entries when none fits.
std::vector<std::byte> unbundle(const std::vector<std::byte>& bundle, std::string_view arch,
                                const std::filesystem::path& file);

/// Lines that list the arguments of a kernel.
std::string argument_list(const KernelInfo& kernel);

}  // namespace monojit::tools
