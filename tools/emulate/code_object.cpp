#include "tools/emulate/code_object.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/error.h"
#include "runtime/hip/emulator_extras.h"
#include "tools/emulate/input_file.h"
#include "tools/emulate/json_text.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

constexpr const char* kWhat = "a code object";
constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr std::array<std::string_view, 2> kArchs = {"gfx950", "gfx942"};

bool begins_with(const std::vector<std::byte>& bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

/// One entry of a bundle: "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+".
struct BundleEntry {
  std::string id;
  std::span<const std::byte> content;

  [[nodiscard]] std::string_view arch() const {
    const std::string_view text(id);
    const std::size_t dash = text.rfind('-', text.find(':'));
    const std::string_view target = dash == std::string_view::npos ? text : text.substr(dash + 1);
    return target.substr(0, target.find(':'));
  }
};

/// A bundle: the magic, the number of entries, then of each its offset, size, length of its id and the id; all numbers
/// have 64 bits.
std::vector<BundleEntry> bundle_entries(const std::vector<std::byte>& bundle, const std::filesystem::path& file) {
  std::size_t at = kBundleMagic.size();
  const auto piece = [&](std::uint64_t offset, std::uint64_t size) {
    if (offset > bundle.size() || size > bundle.size() - offset)
      refuse_input(file, kWhat, "it is an offload bundle that is cut short");
    return std::span(bundle).subspan(offset, size);
  };
  const auto number = [&] {
    std::uint64_t value = 0;
    std::memcpy(&value, piece(at, sizeof value).data(), sizeof value);
    at += sizeof value;
    return value;
  };
  std::vector<BundleEntry> entries;
  for (std::uint64_t left = number(); left > 0; --left) {
    const std::uint64_t offset = number();
    const std::uint64_t size = number();
    const std::uint64_t id_bytes = number();
    const auto id = piece(at, id_bytes);
    at += id_bytes;
    entries.push_back({std::string(reinterpret_cast<const char*>(id.data()), id.size()), piece(offset, size)});
  }
  return entries;
}

std::uint32_t number(const Json& value) { return value.get<std::uint32_t>(); }

KernelInfo kernel_info(const Json& json) {
  KernelInfo kernel;
  kernel.name = json["name"].get<std::string>();
  kernel.vgprs = number(json["vgprs"]);
  kernel.agprs = number(json["agprs"]);
  kernel.sgprs = number(json["sgprs"]);
  kernel.lds_bytes = number(json["lds_bytes"]);
  kernel.scratch_bytes = number(json["scratch_bytes"]);
  kernel.kernarg_bytes = number(json["kernarg_bytes"]);
  kernel.max_workgroup = number(json["max_workgroup"]);
  if (const Json& required = json["required_workgroup"]; !required.is_null())
    kernel.required_workgroup = {number(required[0]), number(required[1]), number(required[2])};
  kernel.occupancy_items = number(json["occupancy"]["work_items"]);
  kernel.workgroups_per_cu = number(json["occupancy"]["workgroups_per_cu"]);
  kernel.occupancy_limit = json["occupancy"]["limit"].get<std::string>();
  kernel.described = !json["arguments"].is_null();
  for (const Json& argument : json["arguments"]) {
    if (argument["hidden"].get<bool>()) {
      ++kernel.hidden_arguments;
      continue;
    }
    kernel.arguments.push_back({argument["name"].get<std::string>(), argument["kind"].get<std::string>(),
                                argument["type"].get<std::string>(), number(argument["bytes"]),
                                number(argument["offset"])});
  }
  return kernel;
}

/// Why the first bytes are no AMDGPU ELF file, in the terms of those who make such files; empty when they may be one.
std::string_view not_for_us(const std::vector<std::byte>& bytes) {
  constexpr std::size_t kMachineOffset = 18;
  constexpr unsigned kX86 = 62;
  if (begins_with(bytes, kCompressedMagic))
    return "it is a compressed offload bundle: unpack it with clang-offload-bundler, or compile with "
           "-no-offload-compress";
  if (bytes.size() > kMachineOffset &&
      begins_with(bytes,
                  "\x7f"
                  "ELF") &&
      static_cast<unsigned>(bytes[kMachineOffset]) == kX86)
    return "it is a program or object of the host: compile with --offload-device-only, or take its device code with "
           "llvm-objdump --offloading";
  return {};
}

}  // namespace

std::vector<std::byte> unbundle(const std::vector<std::byte>& bundle, std::string_view arch,
                                const std::filesystem::path& file) {
  const std::vector<BundleEntry> entries = bundle_entries(bundle, file);
  std::vector<std::string> ids;
  for (const BundleEntry& entry : entries) {
    const bool wanted = arch.empty() ? std::ranges::find(kArchs, entry.arch()) != kArchs.end() : entry.arch() == arch;
    if (wanted) return {entry.content.begin(), entry.content.end()};
    ids.push_back(entry.id);
  }
  refuse_input(
      file, kWhat,
      fmt::format("this offload bundle has nothing for {}; it has: {}", arch.empty() ? "gfx950 or gfx942" : arch,
                  ids.empty() ? "nothing" : fmt::format("{}", fmt::join(ids, ", "))));
}

CodeObject read_code_object(const std::filesystem::path& file, std::string_view arch,
                            const runtime::HipTable& emulator) {
  CodeObject object{read_whole(file, kWhat), {}, {}};
  if (begins_with(object.bytes, kBundleMagic)) object.bytes = unbundle(object.bytes, arch, file);
  if (const std::string_view reason = not_for_us(object.bytes); !reason.empty()) refuse_input(file, kWhat, reason);
  const Json json = Json::parse(runtime::inspect_code_object(emulator, object.bytes, file.string()));
  object.arch = json["arch"].get<std::string>();
  for (const Json& kernel : json["kernels"]) object.kernels.push_back(kernel_info(kernel));
  return object;
}

std::string argument_list(const KernelInfo& kernel) {
  if (!kernel.described && kernel.kernarg_bytes == 0) {
    return fmt::format("the code object says that {} has no bytes of arguments (in assembly: .amdhsa_kernarg_size)",
                       kernel.name);
  }
  if (!kernel.described) {
    return fmt::format("the code object does not say what arguments {} takes, only that they have {} bytes",
                       kernel.name, kernel.kernarg_bytes);
  }
  if (kernel.arguments.empty()) return kernel.name + " takes no arguments";
  using Align = Table::Align;
  Table table({Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.add({"#", "NAME", "KIND", "BYTES", "OFFSET", "TYPE"});
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    table.add({std::to_string(i), argument.name.empty() ? "-" : argument.name, argument.kind,
               std::to_string(argument.bytes), std::to_string(argument.offset), argument.type});
  }
  std::string text = fmt::format("arguments of {}:\n{}", kernel.name, table.text(2));
  text.pop_back();
  return text;
}

const KernelInfo& find_kernel(const CodeObject& object, const std::string& name, const std::filesystem::path& file) {
  if (object.kernels.empty()) refuse_input(file, kWhat, "it has no kernels");
  if (name.empty() && object.kernels.size() == 1) return object.kernels[0];
  std::vector<std::string_view> names;
  for (const KernelInfo& kernel : object.kernels) {
    if (kernel.name == name) return kernel;
    names.emplace_back(kernel.name);
  }
  if (!name.empty()) {
    throw UserError(fmt::format("{} has no kernel {}{} It has: {}", file.string(), name,
                                nearest_hint(name, names).empty() ? "." : nearest_hint(name, names),
                                fmt::join(names, ", ")));
  }
  std::string text = fmt::format("{} has {} kernels: choose one with --kernel", file.string(), names.size());
  for (const KernelInfo& kernel : object.kernels) text += "\n" + argument_list(kernel);
  throw UserError(text);
}

}  // namespace monojit::tools
