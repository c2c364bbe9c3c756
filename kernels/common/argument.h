#pragma once

#include <cstdint>
#include <string_view>

namespace monojit::kernels {

enum class ArgumentType : std::uint8_t {
  kPointer,  ///< 64-bit device address of global memory
  kInt32,
  kInt64,
  kFloat32,
};

/// One kernel argument. A kernel's list of them, written once in its header, gives the emitter's handles, the host's
/// packed buffer and the check against the code object's metadata.
struct Argument {
  std::string_view name;
  ArgumentType type = ArgumentType::kPointer;
  std::uint32_t alignment = 0;  ///< of the pointed-to memory, bytes; pointers only
  bool written = false;         ///< whether the kernel may store through it
  std::string_view meaning;     ///< dtype, shape and role
};

constexpr std::uint32_t argument_bytes(ArgumentType type) {
  return type == ArgumentType::kPointer || type == ArgumentType::kInt64 ? 8 : 4;
}

/// "pointer", "int32", "int64" or "float32".
constexpr std::string_view type_name(ArgumentType type) {
  switch (type) {
    case ArgumentType::kPointer:
      return "pointer";
    case ArgumentType::kInt32:
      return "int32";
    case ArgumentType::kInt64:
      return "int64";
    case ArgumentType::kFloat32:
      break;
  }
  return "float32";
}

}  // namespace monojit::kernels
