#include "tests/emulator/assemble.h"

#include <stdexcept>

#include <fmt/format.h>

#include "codegen/comgr/actions.h"
#include "codegen/comgr/handles.h"
#include "codegen/comgr/library.h"

namespace monojit::emulator::test {
namespace {

using codegen::comgr::ActionInfo;
using codegen::comgr::Data;
using codegen::comgr::DataSet;
using codegen::comgr::Library;

std::string log_text(const DataSet& results) {
  std::string text;
  for (std::size_t i = 0; i < results.count(AMD_COMGR_DATA_KIND_LOG); ++i) {
    const auto bytes = results.bytes(AMD_COMGR_DATA_KIND_LOG, i);
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

std::string metadata_of(const KernelText& kernel) {
  std::string arguments;
  for (std::uint32_t i = 0; i < kernel.arguments; ++i) {
    arguments += fmt::format("      - {{ .name: a{0}, .offset: {1}, .size: 8, .value_kind: by_value }}\n", i, 8 * i);
  }
  return fmt::format(R"(
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {0}
    .symbol: {0}.kd
    .kernarg_segment_size: {1}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {2}
    .private_segment_fixed_size: {3}
    .wavefront_size: 64
    .sgpr_count: 96
    .vgpr_count: {4}
    .agpr_count: {5}
    .max_flat_workgroup_size: 1024
    .args:
{6}...
.end_amdgpu_metadata
)",
                     kernel.name, 8 * kernel.arguments, kernel.lds_bytes, kernel.scratch_bytes, kernel.vgprs,
                     kernel.agprs, arguments);
}

std::string descriptor_of(const KernelText& kernel) {
  const std::uint32_t accumulation = (kernel.vgprs + 3) / 4 * 4;
  return fmt::format(R"(
.rodata
.p2align 6
.amdhsa_kernel {0}
  .amdhsa_group_segment_fixed_size {1}
  .amdhsa_private_segment_fixed_size {2}
  .amdhsa_kernarg_size {3}
  .amdhsa_uses_dynamic_stack {8}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id {4}
  .amdhsa_next_free_vgpr {5}
  .amdhsa_accum_offset {6}
  .amdhsa_next_free_sgpr 96
  .amdhsa_float_denorm_mode_32 {7}
  .amdhsa_float_denorm_mode_16_64 3
.end_amdhsa_kernel
)",
                     kernel.name, kernel.lds_bytes, kernel.scratch_bytes, 8 * kernel.arguments,
                     kernel.work_item_dimensions - 1, kernel.agprs == 0 ? kernel.vgprs : accumulation + kernel.agprs,
                     accumulation, kernel.denormals, kernel.dynamic_stack ? 1 : 0);
}

}  // namespace

std::vector<std::byte> assemble_text(std::string_view text, std::string_view arch) {
  const Library& library = Library::instance();
  const DataSet sources(library);
  DataSet inputs(library);
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  inputs.add(Data(library, AMD_COMGR_DATA_KIND_SOURCE, "kernel.s", {bytes, text.size()}));
  const DataSet results(library);
  const ActionInfo info(library, fmt::format("amdgcn-amd-amdhsa--{}", arch), {});
  const auto status =
      library.do_action(AMD_COMGR_ACTION_ASSEMBLE_SOURCE_TO_RELOCATABLE, info.get(), inputs.get(), results.get());
  if (status != AMD_COMGR_STATUS_SUCCESS || results.count(AMD_COMGR_DATA_KIND_RELOCATABLE) != 1) {
    throw std::runtime_error("assembling failed: " + log_text(results));
  }
  return codegen::comgr::link(results.bytes(AMD_COMGR_DATA_KIND_RELOCATABLE, 0), arch).bytes;
}

std::vector<std::byte> assemble(const KernelText& kernel) {
  const std::string text = fmt::format(
      ".amdgcn_target \"amdgcn-amd-amdhsa--{0}\"\n.text\n.globl {1}\n.p2align 8\n.type {1},@function\n{1}:\n{2}\n  "
      "s_endpgm\n.Lend:\n.size {1}, .Lend-{1}\n",
      kernel.arch, kernel.name, kernel.body);
  return assemble_text(text + descriptor_of(kernel) + metadata_of(kernel), kernel.arch);
}

}  // namespace monojit::emulator::test
