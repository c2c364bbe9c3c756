// Kernels from assembly text, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::emulator::test {

/// The parts of a kernel besides its instructions. SGPRs at the start: s[0:1] kernel arguments, s2 workgroup id; v0 the
/// work-item id (packed).
struct KernelText {
  std::string name = "kernel";
  std::string body;  ///< instructions; s_endpgm is appended
  std::string arch = "gfx950";
  std::uint32_t vgprs = 64;
  std::uint32_t agprs = 0;
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;
  bool dynamic_stack = false;   ///< scratch_bytes is the least
  std::uint32_t arguments = 4;  ///< 64-bit arguments "a0", "a1", ...
  std::uint32_t work_item_dimensions = 1;
  std::uint32_t denormals = 3;  ///< of f32: 3 keeps them, 0 flushes
};

/// A loadable code object. Throws std::runtime_error with the assembler's message.
std::vector<std::byte> assemble(const KernelText& kernel);

/// A loadable code object from LLVM-free source of another kind: complete assembly with its own directives.
std::vector<std::byte> assemble_text(std::string_view text, std::string_view arch);

}  // namespace monojit::emulator::test
