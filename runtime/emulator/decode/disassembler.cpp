#include "runtime/emulator/decode/disassembler.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/format.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
}

}  // namespace

struct Disassembler::State {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembler;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

Disassembler::Disassembler(const ChipLimits& chip) : state_(std::make_unique<State>()) {
  initialize_llvm();
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) throw Failure(FailureKind::kNotInitialized, "LLVM has no AMDGPU target: " + error);
  State& s = *state_;
  const llvm::MCTargetOptions options;
  s.registers.reset(target->createMCRegInfo(triple));
  s.assembler.reset(target->createMCAsmInfo(*s.registers, triple, options));
  s.instructions.reset(target->createMCInstrInfo());
  s.subtarget.reset(target->createMCSubtargetInfo(triple, chip.arch, ""));
  s.context = std::make_unique<llvm::MCContext>(triple, s.assembler.get(), s.registers.get(), s.subtarget.get());
  s.disassembler.reset(target->createMCDisassembler(*s.subtarget, *s.context));
  s.printer.reset(target->createMCInstPrinter(triple, 0, *s.assembler, *s.instructions, *s.registers));
  if (s.disassembler == nullptr || s.printer == nullptr) {
    throw Failure(FailureKind::kNotInitialized, fmt::format("this LLVM can't disassemble {}", chip.arch));
  }
}

Disassembler::~Disassembler() = default;

bool Disassembler::decode(std::span<const u8> bytes, u64 address, Instruction& instruction) {
  llvm::MCInst decoded;
  u64 size = 0;
  const auto status = state_->disassembler->getInstruction(decoded, size, llvm::ArrayRef(bytes.data(), bytes.size()),
                                                           address, llvm::nulls());
  instruction.address = address;
  instruction.encoding = 0;
  std::memcpy(&instruction.encoding, bytes.data(), std::min<std::size_t>(bytes.size(), sizeof instruction.encoding));
  instruction.text.clear();
  if (status == llvm::MCDisassembler::Fail || size == 0) {
    instruction.bytes = static_cast<u32>(std::min<std::size_t>(bytes.size(), 4));
    instruction.text = fmt::format(".long {:#010x}", static_cast<u32>(instruction.encoding));
    parse_instruction_text(instruction);
    return false;
  }
  instruction.bytes = static_cast<u32>(size);
  llvm::raw_string_ostream stream(instruction.text);
  state_->printer->printInst(&decoded, address, "", *state_->subtarget, stream);
  std::ranges::replace(instruction.text, '\t', ' ');
  parse_instruction_text(instruction);
  return true;
}

}  // namespace monojit::emulator
