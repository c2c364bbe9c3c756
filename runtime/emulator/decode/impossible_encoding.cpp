#include "runtime/emulator/decode/impossible_encoding.h"

#include <initializer_list>

namespace monojit::emulator {
namespace {

/// SDWA with reserved codes for the parts of registers.
bool has_reserved_select(u64 encoding) {
  constexpr u64 kSdwaSource = 0xf9, kReserved = 7, kReservedUnused = 3;
  if ((encoding >> 31 & 1) != 0 || (encoding & 0x1ff) != kSdwaSource) return false;
  constexpr u64 kVop1 = 0x3f, kVopc = 0x3e;
  const u64 format = encoding >> 25 & 0x3f;
  if ((encoding >> 48 & 7) == kReserved) return true;
  if (format != kVop1 && (encoding >> 56 & 7) == kReserved) return true;
  return format != kVopc && ((encoding >> 40 & 7) == kReserved || (encoding >> 43 & 3) == kReservedUnused);
}

/// A vector comparison, v_readlane or v_readfirstlane with a literal for its scalar destination.
bool has_impossible_destination(u64 encoding) {
  constexpr u64 kVop3 = 0x34, kFirstArithmetic = 0x100, kReadFirstLane = 0x142, kReadLane = 0x289;
  constexpr u64 kVop1ReadFirstLane = 0x7e000400, kVop1Mask = 0xfe01fe00, kLiteral64 = 0xfe;
  if ((encoding & kVop1Mask) == kVop1ReadFirstLane) return (encoding >> 17 & 0xff) >= kLiteral64;
  const u64 opcode = encoding >> 16 & 0x3ff;
  return (encoding >> 26 & 0x3f) == kVop3 && (encoding & 0xff) >= kLiteral64 &&
         (opcode < kFirstArithmetic || opcode == kReadFirstLane || opcode == kReadLane);
}

/// A literal as the scalar offset of MUBUF or MTBUF.
bool has_impossible_offset(u64 encoding) {
  constexpr u64 kMubuf = 0x38, kMtbuf = 0x3a, kLiteral64 = 0xfe;
  const u64 format = encoding >> 26 & 0x3f;
  return (format == kMubuf || format == kMtbuf) && encoding >> 56 >= kLiteral64;
}

/// VOP3 with a literal, or a matrix operation of variable format with constants for matrices.
bool has_impossible_source(u64 encoding) {
  constexpr u64 kVop3 = 0x34, kLiteral64 = 0xfe, kLiteral = 0xff;
  if ((encoding >> 26 & 0x3f) != kVop3) return false;
  constexpr u32 kSources[] = {32, 41, 50};
  for (const u32 shift : kSources) {
    const u64 source = encoding >> shift & 0x1ff;
    if (source == kLiteral || source == kLiteral64) return true;
  }
  constexpr u64 kFirstMixedMatrix = 0xd3ad, kSecondMixedMatrix = 0xd3ae;
  const u64 opcode = encoding >> 16 & 0xffff;
  if (opcode != kFirstMixedMatrix && opcode != kSecondMixedMatrix) return false;
  return (encoding >> 40 & 1) == 0 || (encoding >> 49 & 1) == 0;
}

}  // namespace

bool is_impossible_encoding(u64 encoding) {
  return has_reserved_select(encoding) || has_impossible_source(encoding) || has_impossible_destination(encoding) ||
         has_impossible_offset(encoding);
}

}  // namespace monojit::emulator
