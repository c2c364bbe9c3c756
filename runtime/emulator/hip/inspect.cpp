// monojitEmulatorInspect(): what a code object holds.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/emulator/code/elf_image.h"
#include "runtime/emulator/code/kernel_info.h"
#include "runtime/emulator/hip/runtime.h"
#include "runtime/emulator/schedule/placement.h"

namespace monojit::emulator {
namespace {

using Json = nlohmann::ordered_json;

const ChipLimits& chip_of(const ElfImage& image) {
  for (const ChipLimits* chip : kChips) {
    if (chip->elf_machine == image.machine) return *chip;
  }
  throw Failure(FailureKind::kWrongChip,
                fmt::format("code object for machine {:#x}: the emulator can be {} (machine {:#x}) or {} ({:#x})",
                            image.machine, kMi355x.arch, kMi355x.elf_machine, kMi300x.arch, kMi300x.elf_machine));
}

Json describe_arguments(const KernelMetadata& metadata) {
  Json arguments = Json::array();
  for (const KernelArgument& argument : metadata.arguments) {
    arguments.push_back({{"name", argument.name},
                         {"kind", argument.kind},
                         {"type", argument.type},
                         {"bytes", argument.bytes},
                         {"offset", argument.offset},
                         {"hidden", argument.hidden()}});
  }
  return arguments;
}

/// `metadata` is null where the object has none for the kernel.
Json describe_kernel(const std::string& name, const KernelDescriptor& descriptor, const KernelMetadata* metadata,
                     const ChipLimits& chip) {
  const KernelMetadata unknown;
  const KernelMetadata& known = metadata != nullptr ? *metadata : unknown;
  Json kernel = {{"name", name},
                 {"vgprs", descriptor.vgprs},
                 {"agprs", descriptor.agprs},
                 {"sgprs", metadata != nullptr ? known.sgprs : descriptor.sgprs},
                 {"lds_bytes", descriptor.lds_bytes},
                 {"scratch_bytes", descriptor.scratch_bytes},
                 {"kernarg_bytes", descriptor.kernarg_bytes},
                 {"max_workgroup", known.max_workgroup},
                 {"required_workgroup", nullptr}};
  u32 items = known.max_workgroup;
  if (const auto& required = known.required_workgroup; required[0] != 0) {
    items = required[0] * required[1] * required[2];
    kernel["required_workgroup"] = {required[0], required[1], required[2]};
  }
  const Residency fits = residency(descriptor, items, descriptor.lds_bytes, chip);
  kernel["occupancy"] = {{"work_items", items}, {"workgroups_per_cu", fits.workgroups_per_cu}, {"limit", fits.limit}};
  kernel["arguments"] = metadata != nullptr ? describe_arguments(known) : Json(nullptr);
  return kernel;
}

Json inspect(std::span<const u8> bytes) {
  const ElfImage image = ElfImage::parse(bytes);
  if (const u64 wanted = elf_file_bytes(bytes.data()); wanted > bytes.size()) {
    throw Failure(FailureKind::kInvalidImage,
                  fmt::format("code object: truncated: {} bytes, where its headers make {}", bytes.size(), wanted));
  }
  const ChipLimits& chip = chip_of(image);
  const std::vector<KernelMetadata> metadata = read_metadata(image.metadata);
  Json kernels = Json::array();
  for (const ElfSymbol& symbol : image.symbols) {
    if (!symbol.defined || !symbol.name.ends_with(kDescriptorSuffix)) continue;
    const std::string name(symbol.name.substr(0, symbol.name.size() - kDescriptorSuffix.size()));
    const auto known = std::ranges::find(metadata, symbol.name, &KernelMetadata::symbol);
    kernels.push_back(describe_kernel(name, KernelDescriptor::parse(image.content(symbol.address, kDescriptorBytes)),
                                      known != metadata.end() ? &*known : nullptr, chip));
  }
  return {{"arch", chip.arch}, {"kernels", std::move(kernels)}};
}

}  // namespace
}  // namespace monojit::emulator

extern "C" const char* monojitEmulatorInspect(const void* image, uint64_t bytes) {
  using namespace monojit::emulator;
  static thread_local std::string text;
  const hipError_t error = guarded([&] {
    if (bytes > 0) require(image, "image");
    text = inspect({static_cast<const u8*>(image), bytes}).dump(-1, ' ', false, Json::error_handler_t::replace);
  });
  return error == hipSuccess ? text.c_str() : nullptr;
}
