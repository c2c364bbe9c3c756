#include "codegen/isa/disassembler.h"

#include <cstring>
#include <memory>

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
#include <llvm/Support/raw_ostream.h>

#include "codegen/error.h"
#include "codegen/target_machine.h"

namespace monojit::codegen {
namespace {

/// LLVM's machine-code layer for one chip.
class Machine {
 public:
  explicit Machine(std::string_view arch)
      : target_(amdgpu_target()),
        triple_(kTriple),
        registers_(target_.createMCRegInfo(triple_)),
        assembly_(target_.createMCAsmInfo(*registers_, triple_, options_)),
        instructions_(target_.createMCInstrInfo()),
        chip_(target_.createMCSubtargetInfo(triple_, llvm::StringRef(arch.data(), arch.size()), "")),
        context_(triple_, assembly_.get(), registers_.get(), chip_.get()),
        disassembler_(target_.createMCDisassembler(*chip_, context_)),
        printer_(target_.createMCInstPrinter(triple_, 0, *assembly_, *instructions_, *registers_)) {
    if (!disassembler_ || !printer_) throw CodegenError(fmt::format("LLVM has no disassembler for {}", arch));
  }

  Instruction decode(std::span<const std::byte> bytes, std::uint64_t address) {
    const llvm::ArrayRef<std::uint8_t> raw(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    llvm::MCInst inst;
    std::uint64_t size = 0;
    if (disassembler_->getInstruction(inst, size, raw, address, llvm::nulls()) != llvm::MCDisassembler::Success) {
      throw CodegenError(fmt::format("no instruction at {:#x}", address));
    }
    Instruction instruction;
    instruction.address = address;
    instruction.size = static_cast<std::uint32_t>(size);
    print(inst, instruction);
    if (instructions_->get(inst.getOpcode()).isBranch()) instruction.target = branch_target(raw, instruction);
    return instruction;
  }

 private:
  void print(const llvm::MCInst& inst, Instruction& instruction) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer_->printInst(&inst, instruction.address, "", *chip_, stream);
    const std::size_t start = text.find_first_not_of(" \t");
    const std::size_t end = text.find_first_of(" \t", start);
    instruction.mnemonic = text.substr(start, end - start);
    if (end == std::string::npos) return;
    const std::size_t operands = text.find_first_not_of(" \t", end);
    if (operands != std::string::npos) instruction.operands = text.substr(operands);
  }

  /// Branches of the SOPP format hold a signed 16-bit count of dwords, from the next instruction on.
  static std::optional<std::uint64_t> branch_target(llvm::ArrayRef<std::uint8_t> raw, const Instruction& instruction) {
    if (instruction.mnemonic.starts_with("s_setpc") || instruction.mnemonic.starts_with("s_swappc"))
      return std::nullopt;
    std::int16_t dwords = 0;
    std::memcpy(&dwords, raw.data(), sizeof dwords);
    return instruction.address + 4 + static_cast<std::uint64_t>(std::int64_t{dwords} * 4);
  }

  const llvm::Target& target_;
  llvm::Triple triple_;
  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> chip_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

}  // namespace

std::vector<Instruction> disassemble(const CodeRange& code, std::string_view arch) {
  Machine machine(arch);
  std::vector<Instruction> instructions;
  for (std::size_t at = 0; at < code.bytes.size(); at += instructions.back().size) {
    instructions.push_back(machine.decode(code.bytes.subspan(at), code.address + at));
  }
  return instructions;
}

}  // namespace monojit::codegen
