#include "runtime/emulator/code/kernel_info.h"

#include <cstring>

#include <llvm/BinaryFormat/MsgPackDocument.h>

#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

// Byte offsets in the descriptor.
constexpr u32 kDescriptorBytes = 64;
constexpr u32 kGroupSegment = 0, kPrivateSegment = 4, kKernargBytes = 8, kEntry = 16;
constexpr u32 kResource3 = 44, kResource1 = 48, kResource2 = 52, kProperties = 56, kPreload = 58;
constexpr u32 kRegisterGranule = 8;
constexpr u32 kScalarGranule = 16;
constexpr u32 kAccumulationGranule = 4;

template <class T>
T read(std::span<const u8> bytes, u32 offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

u32 bits(u32 value, u32 first, u32 width) { return value >> first & ((1u << width) - 1); }
bool bit(u32 value, u32 index) { return bits(value, index, 1) != 0; }

}  // namespace

KernelDescriptor KernelDescriptor::parse(std::span<const u8> bytes) {
  if (bytes.size() < kDescriptorBytes)
    throw Failure(FailureKind::kInvalidImage, "code object: truncated kernel descriptor");
  const u32 resource1 = read<u32>(bytes, kResource1);
  const u32 resource2 = read<u32>(bytes, kResource2);
  const u32 resource3 = read<u32>(bytes, kResource3);
  const u32 properties = read<u16>(bytes, kProperties);
  const u32 preload = read<u16>(bytes, kPreload);
  KernelDescriptor d;
  d.lds_bytes = read<u32>(bytes, kGroupSegment);
  d.scratch_bytes = read<u32>(bytes, kPrivateSegment);
  d.kernarg_bytes = read<u32>(bytes, kKernargBytes);
  d.entry_offset = read<i64>(bytes, kEntry);
  const u32 total = (bits(resource1, 0, 6) + 1) * kRegisterGranule;
  const u32 accumulation = (bits(resource3, 0, 6) + 1) * kAccumulationGranule;
  d.vgprs = accumulation < total ? accumulation : total;
  d.agprs = total - d.vgprs;
  d.sgprs = (bits(resource1, 6, 4) / 2 + 1) * kScalarGranule;
  // MODE: rounding and denormals as they are, DX10_CLAMP in bit 8, IEEE in bit 9, FP16_OVFL in bit 23.
  d.mode =
      bits(resource1, 12, 8) | bits(resource1, 21, 1) << 8 | bits(resource1, 23, 1) << 9 | bits(resource1, 26, 1) << 23;
  d.user_sgprs = bits(resource2, 1, 5);
  for (u32 i = 0; i < 3; ++i) d.workgroup_id[i] = bit(resource2, 7 + i);
  d.workgroup_info = bit(resource2, 10);
  d.work_item_dimensions = bits(resource2, 11, 2) + 1;
  d.private_segment_buffer = bit(properties, 0);
  d.dispatch_pointer = bit(properties, 1);
  d.queue_pointer = bit(properties, 2);
  d.kernarg_pointer = bit(properties, 3);
  d.dispatch_id = bit(properties, 4);
  d.flat_scratch_init = bit(properties, 5);
  d.private_segment_size = bit(properties, 6);
  d.dynamic_stack = bit(properties, 11);
  d.preload_words = bits(preload, 0, 7);
  d.preload_offset = bits(preload, 7, 9);
  return d;
}

namespace {

using Node = llvm::msgpack::DocNode;

Node* child(Node& node, const char* key) {
  auto& map = node.getMap();
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

u32 number(Node& node, const char* key, u32 otherwise) {
  Node* const value = child(node, key);
  if (value == nullptr) return otherwise;
  if (value->getKind() == llvm::msgpack::Type::UInt) return static_cast<u32>(value->getUInt());
  if (value->getKind() == llvm::msgpack::Type::Int) return static_cast<u32>(value->getInt());
  return otherwise;
}

std::string text(Node& node, const char* key) {
  Node* const value = child(node, key);
  return value != nullptr && value->isString() ? value->getString().str() : std::string();
}

/// The list under a key; empty if there is none.
std::vector<Node> list(Node& node, const char* key) {
  Node* const value = child(node, key);
  if (value == nullptr || !value->isArray()) return {};
  return {value->getArray().begin(), value->getArray().end()};
}

KernelMetadata read_kernel(Node& node) {
  KernelMetadata kernel;
  kernel.name = text(node, ".name");
  kernel.symbol = text(node, ".symbol");
  kernel.kernarg_bytes = number(node, ".kernarg_segment_size", 0);
  kernel.lds_bytes = number(node, ".group_segment_fixed_size", 0);
  kernel.scratch_bytes = number(node, ".private_segment_fixed_size", 0);
  kernel.vgprs = number(node, ".vgpr_count", 0);
  kernel.agprs = number(node, ".agpr_count", 0);
  kernel.sgprs = number(node, ".sgpr_count", 0);
  kernel.max_workgroup = number(node, ".max_flat_workgroup_size", kernel.max_workgroup);
  kernel.uniform_workgroup = number(node, ".uniform_work_group_size", 0) != 0;
  const std::vector<Node> required = list(node, ".reqd_workgroup_size");
  for (u32 i = 0; i < 3 && i < required.size(); ++i) {
    kernel.required_workgroup[i] = static_cast<u32>(required[i].getUInt());
  }
  for (Node& argument : list(node, ".args")) {
    kernel.arguments.push_back({text(argument, ".name"), text(argument, ".value_kind"), number(argument, ".offset", 0),
                                number(argument, ".size", 0)});
  }
  return kernel;
}

}  // namespace

std::vector<KernelMetadata> read_metadata(std::span<const u8> note) {
  std::vector<KernelMetadata> kernels;
  if (note.empty()) return kernels;
  llvm::msgpack::Document document;
  const llvm::StringRef blob(reinterpret_cast<const char*>(note.data()), note.size());
  if (!document.readFromBlob(blob, false) || !document.getRoot().isMap()) {
    throw Failure(FailureKind::kInvalidImage, "code object: its metadata note is not readable");
  }
  for (Node& node : list(document.getRoot(), "amdhsa.kernels")) {
    if (node.isMap()) kernels.push_back(read_kernel(node));
  }
  return kernels;
}

}  // namespace monojit::emulator
