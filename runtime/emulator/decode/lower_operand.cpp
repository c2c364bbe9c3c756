// Operands: registers and constants as offsets into the register file.
#include <bit>

#include <fmt/format.h>

#include "runtime/emulator/decode/lowering.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {
namespace {

/// 1 / (2 pi), the inline constant that no short decimal number gives exactly.
constexpr double kInverseTwoPi = 0.15915494309189532;
constexpr u32 kInverseTwoPi32 = 0x3e22f983;
constexpr u16 kInverseTwoPi16 = 0x3118;

bool is_inverse_two_pi(double value) { return value > 0.159 && value < 0.1592; }

u32 float_bits(double value, OperandType type) {
  if (is_inverse_two_pi(value)) return type == OperandType::k16 ? kInverseTwoPi16 : kInverseTwoPi32;
  if (type == OperandType::k16) return std::bit_cast<u16>(static_cast<f16>(value));
  return std::bit_cast<u32>(static_cast<float>(value));
}

struct ApertureName {
  std::string_view name;
  u64 value;
};
constexpr ApertureName kApertures[] = {
    {"src_shared_base", kSharedApertureBase},
    {"src_shared_limit", kSharedApertureBase | 0xffffffff},
    {"src_private_base", kPrivateApertureBase},
    {"src_private_limit", kPrivateApertureBase | 0xffffffff},
    {"src_pops_exiting_wave_id", 0},
};

}  // namespace

u32 Lowering::constant(const Operand& operand, OperandType type) {
  const bool wide = type == OperandType::k64 || type == OperandType::kF64 || type == OperandType::kMask;
  switch (operand.kind) {
    case Operand::Kind::kInteger:
      return wide ? constant64(static_cast<u64>(operand.integer)) : constant32(static_cast<u32>(operand.integer));
    case Operand::Kind::kFloat:
      if (!wide) return constant32(float_bits(operand.real, type));
      return constant64(std::bit_cast<u64>(is_inverse_two_pi(operand.real) ? kInverseTwoPi : operand.real));
    case Operand::Kind::kLiteral:
      // A literal has 32 bits: the high half of an f64, else zero extended.
      if (type == OperandType::kF64) return constant64(static_cast<u64>(operand.integer) << 32);
      return wide ? constant64(static_cast<u64>(operand.integer)) : constant32(static_cast<u32>(operand.integer));
    default:
      break;
  }
  for (const ApertureName& aperture : kApertures) {
    if (operand.text == aperture.name)
      return wide ? constant64(aperture.value) : constant32(static_cast<u32>(aperture.value >> 32));
  }
  throw Unsupported(fmt::format("operand {} is not known to the emulator", operand.text));
}

Lowering::Source Lowering::source(const Operand& operand, OperandType type) {
  if (operand.is_row()) return {row(operand), true};
  if (operand.kind == Operand::Kind::kScalar) return {scalar_offset(operand.index), false};
  if (operand.text == "src_vccz" || operand.text == "src_execz") {
    const u32 flag = temporary_scalar(2);
    add(table_.step(".read_zero").handlers[0], flag, scalar_offset(operand.text == "src_vccz" ? kVccWord : kExecWord));
    return {flag, false};
  }
  return {constant(operand, type), false};
}

u32 Lowering::scalar(const Operand& operand, OperandType type) {
  if (operand.is_row())
    throw Unsupported(fmt::format("{} is a vector register where a scalar is expected", operand.text));
  return source(operand, type).offset;
}

}  // namespace monojit::emulator
