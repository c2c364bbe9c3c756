// MUBUF, MTBUF, FLAT, DS, SMEM, MFMA and SMFMAC.
#include <fmt/format.h>

#include "runtime/emulator/decode/lowering.h"
#include "runtime/emulator/execute/matrix.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {

Handler Lowering::memory_handler(const Entry& entry, u32 index) const {
  return entry.handlers[index + (variant_ != ProgramVariant::kPlain ? kObservedHandlers : 0)];
}

Handler Lowering::observing_handler(const Entry& entry) const {
  return variant_ != ProgramVariant::kPlain ? entry.handlers[kObservedHandlers] : nullptr;
}

u32 Lowering::policy_bits(const Instruction& in) {
  if (in.operands.size() <= 1 && in.mnemonic.starts_with("buffer_")) {
    // buffer_inv and buffer_wbl2: the text has no operands, so the first modifier stands where one would. Read the
    // bits.
    constexpr u64 kSc0 = u64{1} << 14, kSc1 = u64{1} << 15, kNt = u64{1} << 17;
    return ((in.encoding & kSc0) != 0 ? kScope0 : 0) | ((in.encoding & kSc1) != 0 ? kScope1 : 0) |
           ((in.encoding & kNt) != 0 ? kNonTemporal : 0);
  }
  return (in.has("sc0") ? kScope0 : 0) | (in.has("sc1") ? kScope1 : 0) | (in.has("nt") ? kNonTemporal : 0);
}

void Lowering::lower_buffer(const Instruction& in, const Entry& entry) {
  const bool to_lds = in.has("lds");
  const bool returns = (entry.flags & kReturns) != 0 && in.has("sc0");
  const Handler handler = memory_handler(entry, to_lds ? 2 : returns ? 1 : 0);
  if (handler == nullptr) throw Unsupported("this form is not known to the emulator");
  if (in.has("addr64") || in.has("tfe")) throw Unsupported("addr64 and tfe are not known to the emulator");
  std::size_t next = 0;
  const u32 data = to_lds ? 0 : row(operand(in, next++));
  const bool offen = in.has("offen"), idxen = in.has("idxen");
  // `off` stands where no address register is needed; forms to LDS leave it out in some printings.
  const Operand& address = operand(in, next);
  u32 address_row = 0;
  if (address.is_row() || address.kind == Operand::Kind::kOff) {
    if (address.is_row()) address_row = row(address);
    ++next;
  }
  const u32 descriptor = scalar(operand(in, next), OperandType::k32);
  const u32 soffset = scalar(operand(in, next + 1), OperandType::k32);
  u32 format = 0;
  if (in.mnemonic.starts_with("tbuffer_")) {
    // Taken from the encoding: the text leaves a default format out and names the others.
    format = static_cast<u32>(in.encoding >> 19 & 15) << kTypedDataShift | static_cast<u32>(in.encoding >> 23 & 7)
                                                                               << kTypedNumberShift;
  }
  add(handler, data, address_row, descriptor, soffset, static_cast<u32>(in.number_of("offset", 0)),
      (offen ? kOffsetEnable : 0) | (idxen ? kIndexEnable : 0) | format | policy_bits(in));
}

void Lowering::lower_flat(const Instruction& in, const Entry& entry) {
  const bool flat = in.mnemonic.starts_with("flat_");
  const bool stores = (entry.flags & kStores) != 0;
  const bool atomic = (entry.flags & kReturns) != 0;
  const bool returns = atomic && in.has("sc0");
  const bool to_lds = entry.data_rows == 0;
  std::size_t next = 0;
  const u32 destination = (!stores && !atomic) || returns ? row(operand(in, next++)) : kNoOperand;
  const u32 address = row_or_none(operand(in, next++));
  const u32 data = (stores && !to_lds) || atomic ? row(operand(in, next++)) : kNoOperand;
  u32 base = kNoOperand;
  if (!flat && next < in.operands.size() && operand(in, next).kind != Operand::Kind::kOff) {
    base = scalar(operand(in, next), OperandType::k64);
  }
  const Handler handler = memory_handler(entry, returns ? 1 : 0);
  if (handler == nullptr) throw Unsupported("this form is not known to the emulator");
  add(handler, destination, address, base, data, static_cast<u32>(in.number_of("offset", 0)),
      (flat ? kFlatAddresses : 0) | policy_bits(in));
}

void Lowering::lower_lds(const Instruction& in, const Entry& entry) {
  if (in.has("gds")) throw Unsupported("global data share does not exist on these chips");
  std::size_t next = 0;
  const bool stores = (entry.flags & kStores) != 0;
  const u32 destination = stores ? kNoOperand : row(operand(in, next++));
  const u32 address = next < in.operands.size() ? row(operand(in, next++)) : kNoOperand;
  const u32 first = next < in.operands.size() ? row(operand(in, next++)) : kNoOperand;
  const u32 second = next < in.operands.size() ? row(operand(in, next++)) : kNoOperand;
  if (entry.offset_scale != 0) {
    const u32 unit = entry.offset_scale * entry.data_rows * 4;
    add(entry.handlers[0], destination, address, first, second, (in.simm16() & 255) * unit, (in.simm16() >> 8) * unit);
  } else {
    add(entry.handlers[0], destination, address, first, second, in.simm16());
  }
}

void Lowering::lower_scalar_memory(const Instruction& in, const Entry& entry) {
  const u32 destination = scalar(operand(in, 0), OperandType::k32);
  if (in.operands.size() == 1) {
    add(memory_handler(entry, 0), destination);
    return;
  }
  const u32 base = scalar(operand(in, 1), OperandType::k64);
  const Operand& offset = operand(in, 2);
  const bool immediate = offset.kind == Operand::Kind::kInteger || offset.kind == Operand::Kind::kLiteral;
  const i64 fixed = immediate ? offset.integer : in.number_of("offset", 0);
  const bool returns = (entry.flags & kReturns) != 0 && in.has("glc");
  const Handler handler = memory_handler(entry, returns ? 1 : 0);
  if (handler == nullptr) throw Unsupported("scalar stores and atomics are possible in coherent memory only");
  add(handler, destination, base, immediate ? kNoOperand : scalar(offset, OperandType::k32), 0,
      static_cast<u32>(fixed));
}

void Lowering::lower_matrix(const Instruction& in) {
  MatrixOperation operation;
  operation.function = find_tile(in.mnemonic, chip_.chip, matrix_, table_.host_isa());
  if (operation.function == nullptr) throw Unsupported("not known to the emulator");
  TileArguments& tile = operation.arguments;
  const u32 destination = row(operand(in, 0));
  const u32 a = row(operand(in, 1));
  const u32 b = row(operand(in, 2));
  const Operand& addend = operand(in, 3);
  u32 c = kNoOperand;
  if (addend.is_row()) {
    c = row(addend);
  } else {
    const bool wide = in.mnemonic.starts_with("v_mfma_f64");
    const u32 offset = constant(addend, wide ? OperandType::kF64 : OperandType::k32) - program_.constants_offset();
    tile.c_constant = program_.constants[offset / 4];
    if (wide) tile.c_constant |= u64{program_.constants[offset / 4 + 1]} << 32;
  }
  tile.cbsz = static_cast<u8>(in.number_of("cbsz", 0));
  tile.abid = static_cast<u8>(in.number_of("abid", 0));
  tile.blgp = static_cast<u8>(in.number_of("blgp", 0));
  if (const auto negated = in.list_of("neg")) tile.blgp = static_cast<u8>(negated->bits());
  if (in.operands.size() > 4) {
    operation.scale_a = row(operand(in, 4));
    operation.scale_b = row(operand(in, 5));
    // The scales' half of the instruction comes first: op_sel in bits 11 and 12, op_sel_hi in 59 and 60.
    tile.scale_byte_a = static_cast<u8>((in.encoding >> 11 & 1) | (in.encoding >> 59 & 1) << 1);
    tile.scale_byte_b = static_cast<u8>((in.encoding >> 12 & 1) | (in.encoding >> 60 & 1) << 1);
  }
  program_.matrix_operations.push_back(operation);
  add(matrix_handler, destination, a, b, c, static_cast<u32>(program_.matrix_operations.size() - 1));
}

void Lowering::lower_sparse_matrix(const Instruction& in) {
  MatrixOperation operation;
  operation.sparse = find_sparse_tile(in.mnemonic, chip_.chip, matrix_);
  if (operation.sparse == nullptr) throw Unsupported("not known to the emulator");
  operation.arguments.cbsz = static_cast<u8>(in.number_of("cbsz", 0));
  operation.arguments.abid = static_cast<u8>(in.number_of("abid", 0));
  const u32 index = static_cast<u32>(program_.matrix_operations.size());
  program_.matrix_operations.push_back(operation);
  add(sparse_matrix_handler, row(operand(in, 0)), row(operand(in, 1)), row(operand(in, 2)), row(operand(in, 3)), index);
}

}  // namespace monojit::emulator
