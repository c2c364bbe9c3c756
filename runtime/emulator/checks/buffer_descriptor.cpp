#include "runtime/emulator/checks/buffer_descriptor.h"

#include <fmt/format.h>

namespace monojit::emulator {

// Word 0 and word 1 bits 15:0: base; word 1 bits 29:16: stride, bit 31: swizzle; word 2: num_records; word 3 bits
// 18:15: data format, bit 23: add_tid_enable, bits 31:30: type.
std::optional<std::string> descriptor_problem(const u32 (&words)[4]) {
  const u64 base = u64{words[0]} | u64{words[1] & 0xffff} << 32;
  const u32 stride = words[1] >> 16 & 0x3fff;
  const bool swizzled = (words[1] >> 31) != 0;
  const u32 format = words[3] >> 15 & 15;
  const u32 type = words[3] >> 30;
  const std::string text =
      fmt::format("descriptor {:#010x} {:#010x} {:#010x} {:#010x}: ", words[0], words[1], words[2], words[3]);
  if (type != 0) return text + fmt::format("type {} (word 3 bits 31:30) is not that of a buffer", type);
  if (format == 0) return text + "data format 0 (word 3 bits 18:15) means unbound: loads give zero, stores are dropped";
  if (base == 0 && words[2] != 0) return text + "the base address is null";
  if (base >> 47 != 0) return text + fmt::format("base address {:#x} is outside of what an allocation can have", base);
  if (swizzled && stride == 0) return text + "swizzled, but without a stride";
  return std::nullopt;
}

}  // namespace monojit::emulator
