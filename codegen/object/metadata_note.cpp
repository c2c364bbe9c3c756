#include "codegen/object/metadata_note.h"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/error.h"

namespace monojit::codegen {
namespace {

using llvm::msgpack::DocNode;
using llvm::msgpack::MapDocNode;

[[noreturn]] void fail(std::string_view what) {
  throw CodegenError(fmt::format("the code object's metadata is malformed: {}", what));
}

void parse(llvm::msgpack::Document& document, std::span<const std::byte> note) {
  const llvm::StringRef blob(reinterpret_cast<const char*>(note.data()), note.size());
  if (!document.readFromBlob(blob, false) || !document.getRoot().isMap()) fail("not a msgpack map");
}

/// The entry `name` of a map; an empty node, which has no kind, when there is none.
DocNode entry(MapDocNode& map, llvm::StringRef name) {
  const auto found = map.find(name);
  return found == map.end() ? DocNode() : found->second;
}

std::uint32_t number(MapDocNode& map, llvm::StringRef name, bool required = true) {
  const DocNode node = entry(map, name);
  if (node.isEmpty() && !required) return 0;
  if (node.isEmpty()) fail(fmt::format("{} is missing", name.str()));
  if (node.getKind() == llvm::msgpack::Type::UInt) return static_cast<std::uint32_t>(node.getUInt());
  if (node.getKind() == llvm::msgpack::Type::Int) return static_cast<std::uint32_t>(node.getInt());
  fail(fmt::format("{} is not a number", name.str()));
}

std::string text(MapDocNode& map, llvm::StringRef name) {
  const DocNode node = entry(map, name);
  return !node.isEmpty() && node.isString() ? node.getString().str() : std::string();
}

bool flag(MapDocNode& map, llvm::StringRef name) {
  const DocNode node = entry(map, name);
  return !node.isEmpty() && node.getKind() == llvm::msgpack::Type::Boolean && node.getBool();
}

/// Waves that one SIMD's 512 registers hold. gfx90a and its successors hand them out in groups of 8, AGPRs and VGPRs
/// from one file.
std::uint32_t waves_per_simd(std::uint32_t vgpr) {
  constexpr std::uint32_t kRegisters = 512;
  constexpr std::uint32_t kGranule = 8;
  constexpr std::uint32_t kMostWaves = 8;
  const std::uint32_t taken = std::max((vgpr + kGranule - 1) / kGranule, 1U) * kGranule;
  return std::min(kRegisters / taken, kMostWaves);
}

Resources read_resources(MapDocNode& kernel) {
  Resources r;
  r.vgpr = number(kernel, ".vgpr_count");
  r.agpr = number(kernel, ".agpr_count", false);
  r.sgpr = number(kernel, ".sgpr_count");
  r.lds_bytes = number(kernel, ".group_segment_fixed_size");
  r.scratch_bytes = number(kernel, ".private_segment_fixed_size");
  r.vgpr_spills = number(kernel, ".vgpr_spill_count", false);
  r.sgpr_spills = number(kernel, ".sgpr_spill_count", false);
  r.kernarg_bytes = number(kernel, ".kernarg_segment_size");
  r.max_workgroup_size = number(kernel, ".max_flat_workgroup_size");
  r.wave_size = number(kernel, ".wavefront_size");
  r.waves_per_simd = waves_per_simd(r.vgpr);
  r.dynamic_stack = flag(kernel, ".uses_dynamic_stack");
  return r;
}

std::vector<ArgumentMetadata> read_arguments(MapDocNode& kernel) {
  std::vector<ArgumentMetadata> arguments;
  DocNode list = entry(kernel, ".args");
  if (list.isEmpty()) return arguments;
  if (!list.isArray()) fail(".args is not a list");
  for (DocNode& node : list.getArray()) {
    if (!node.isMap()) fail("an argument is not a map");
    MapDocNode& argument = node.getMap();
    arguments.push_back({text(argument, ".name"), number(argument, ".offset"), number(argument, ".size"),
                         text(argument, ".value_kind")});
  }
  return arguments;
}

}  // namespace

std::vector<KernelMetadata> read_metadata_note(std::span<const std::byte> note) {
  llvm::msgpack::Document document;
  parse(document, note);
  DocNode list = entry(document.getRoot().getMap(), "amdhsa.kernels");
  if (list.isEmpty() || !list.isArray()) fail("amdhsa.kernels is missing");
  std::vector<KernelMetadata> kernels;
  for (DocNode& node : list.getArray()) {
    if (!node.isMap()) fail("a kernel is not a map");
    MapDocNode& kernel = node.getMap();
    kernels.push_back({text(kernel, ".name"), read_resources(kernel), read_arguments(kernel)});
  }
  return kernels;
}

std::string metadata_note_text(std::span<const std::byte> note) {
  llvm::msgpack::Document document;
  parse(document, note);
  document.setHexMode(false);
  std::string text;
  llvm::raw_string_ostream stream(text);
  document.toYAML(stream);
  return text;
}

}  // namespace monojit::codegen
