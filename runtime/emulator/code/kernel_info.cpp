#include "runtime/emulator/code/kernel_info.h"

#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/emulator/code/elf_image.h"
#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

// Byte offsets in the descriptor.
constexpr u32 kGroupSegment = 0, kPrivateSegment = 4, kKernargBytes = 8, kEntry = 16;
constexpr u32 kResource3 = 44, kResource1 = 48, kResource2 = 52, kProperties = 56, kPreload = 58;
constexpr u32 kRegisterGranule = 8;
constexpr u64 kMostArgumentBytes = 64 * 1024;
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
  if (d.kernarg_bytes > kMostArgumentBytes) {
    throw Failure(FailureKind::kInvalidImage,
                  fmt::format("code object: a kernel descriptor asks for {} bytes of arguments, where {} are the most",
                              d.kernarg_bytes, kMostArgumentBytes));
  }
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

using Json = nlohmann::json;

/// What is under a key; null if there is nothing.
const Json* child(const Json& node, const char* key) {
  const auto found = node.find(key);
  return found == node.end() ? nullptr : &*found;
}

u32 number(const Json& node, const char* key, u32 otherwise) {
  const Json* const value = child(node, key);
  return value != nullptr && value->is_number_integer() ? value->get<u32>() : otherwise;
}

std::string text(const Json& node, const char* key) {
  const Json* const value = child(node, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

/// The objects in the list under a key; empty if there is none.
std::vector<Json> objects(const Json& node, const char* key) {
  std::vector<Json> found;
  const Json* const value = child(node, key);
  if (value == nullptr || !value->is_array()) return found;
  for (const Json& each : *value) {
    if (each.is_object()) found.push_back(each);
  }
  return found;
}

/// Stops at a depth that no compiler writes and the parser's recursion must not follow.
class DepthCheck : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ < kMostDepth; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ < kMostDepth; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  static constexpr int kMostDepth = 32;
  int depth_ = 0;
};

KernelMetadata read_kernel(const Json& node) {
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
  const Json* const required = child(node, ".reqd_workgroup_size");
  for (u32 i = 0; required != nullptr && required->is_array() && i < 3 && i < required->size(); ++i) {
    if ((*required)[i].is_number_integer()) kernel.required_workgroup[i] = (*required)[i].get<u32>();
  }
  for (const Json& argument : objects(node, ".args")) {
    if (u64{number(argument, ".offset", 0)} + number(argument, ".size", 0) > kMostArgumentBytes) {
      throw Failure(FailureKind::kInvalidImage,
                    "code object: an argument of " + kernel.name + " lies behind the first 64 KiB");
    }
    kernel.arguments.push_back({text(argument, ".name"), text(argument, ".value_kind"), number(argument, ".offset", 0),
                                number(argument, ".size", 0), text(argument, ".type_name")});
  }
  return kernel;
}

}  // namespace

std::vector<KernelMetadata> read_metadata(std::span<const u8> note) {
  std::vector<KernelMetadata> kernels;
  if (note.empty()) return kernels;
  DepthCheck check;
  const bool sound = Json::sax_parse(note.begin(), note.end(), &check, Json::input_format_t::msgpack, false);
  const Json document = sound ? Json::from_msgpack(note.begin(), note.end(), false, false) : Json();
  if (!document.is_object()) {
    throw Failure(FailureKind::kInvalidImage, "code object: its metadata note is not readable");
  }
  for (const Json& kernel : objects(document, "amdhsa.kernels")) kernels.push_back(read_kernel(kernel));
  return kernels;
}

}  // namespace monojit::emulator
