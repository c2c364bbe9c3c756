#include "runtime/emulator/decode/disassembler.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>

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

#include "runtime/emulator/decode/impossible_encoding.h"
#include "runtime/emulator/execute/register_file.h"
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

std::optional<RegisterUse> numbered(std::string_view name, std::string_view prefix, RegisterUse::File file, u32 base) {
  if (!name.starts_with(prefix)) return std::nullopt;
  u32 number = 0;
  const char* const begin = name.data() + prefix.size();
  if (std::from_chars(begin, name.data() + name.size(), number).ec != std::errc{}) return std::nullopt;
  u16 count = 0;
  for (std::size_t at = 0; at != std::string_view::npos; at = name.find(prefix, at + 1)) ++count;
  return RegisterUse{.file = file, .first = static_cast<u16>(base + number), .count = count};
}

/// A register by LLVM's name for it: "VGPR2_VGPR3", "SGPR4", "VCC_LO", "M0_gfxpre11". None of those that hold no state.
std::optional<RegisterUse> register_named(std::string_view name) {
  using File = RegisterUse::File;
  if (const auto use = numbered(name, "VGPR", File::kVgpr, 0)) return use;
  if (const auto use = numbered(name, "AGPR", File::kAgpr, 0)) return use;
  if (const auto use = numbered(name, "SGPR", File::kScalar, 0)) return use;
  if (const auto use = numbered(name, "TTMP", File::kScalar, kTtmpWord)) return use;
  struct Named {
    std::string_view stem;
    u32 word;
  };
  constexpr Named kPairs[] = {
      {"FLAT_SCR", kFlatScratchWord}, {"XNACK_MASK", kXnackMaskWord}, {"VCC", kVccWord}, {"EXEC", kExecWord}};
  for (const Named& pair : kPairs) {
    if (!name.starts_with(pair.stem)) continue;
    const bool low = name.find("_LO") != std::string_view::npos, high = name.find("_HI") != std::string_view::npos;
    return RegisterUse{.first = static_cast<u16>(pair.word + (high ? 1 : 0)),
                       .count = static_cast<u16>(low || high ? 1 : 2)};
  }
  if (name.starts_with("M0")) return RegisterUse{.first = kM0Word};
  return std::nullopt;
}

/// What LLVM decodes without believing in it is marked by a comment in its text: "/*Invalid register, ...*/".
bool is_doubtful(std::string_view text) { return text.find("/*") != std::string_view::npos; }

}  // namespace

struct Disassembler::State {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembler;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;

  void add_use(MachineFacts& facts, llvm::MCRegister reg, bool written, bool tied) const {
    auto use = register_named(registers->getName(reg));
    if (!use) return;
    use->written = written;
    use->tied = tied;
    facts.registers.push_back(*use);
  }

  void fill_facts(const llvm::MCInst& decoded, MachineFacts& facts) const {
    const llvm::MCInstrDesc& description = instructions->get(decoded.getOpcode());
    facts.registers.clear();
    for (unsigned i = 0; i < decoded.getNumOperands(); ++i) {
      const llvm::MCOperand& operand = decoded.getOperand(i);
      if (!operand.isReg() || !operand.getReg()) continue;
      const bool written = i < description.getNumDefs();
      const bool tied =
          !written && i < description.getNumOperands() && description.getOperandConstraint(i, llvm::MCOI::TIED_TO) >= 0;
      add_use(facts, operand.getReg(), written, tied);
    }
    for (const llvm::MCPhysReg reg : description.implicit_uses()) add_use(facts, reg, false, false);
    for (const llvm::MCPhysReg reg : description.implicit_defs()) add_use(facts, reg, true, false);
  }
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

bool Disassembler::decode(std::span<const u8> bytes, u64 address, Instruction& instruction, MachineFacts* facts) {
  instruction.address = address;
  instruction.encoding = 0;
  std::memcpy(&instruction.encoding, bytes.data(), std::min<std::size_t>(bytes.size(), sizeof instruction.encoding));
  instruction.text.clear();
  llvm::MCInst decoded;
  u64 size = 0;
  const bool known = !is_impossible_encoding(instruction.encoding) &&
                     state_->disassembler->getInstruction(decoded, size, llvm::ArrayRef(bytes.data(), bytes.size()),
                                                          address, llvm::nulls()) != llvm::MCDisassembler::Fail &&
                     size != 0;
  if (known) {
    llvm::raw_string_ostream stream(instruction.text);
    state_->printer->printInst(&decoded, address, "", *state_->subtarget, stream);
  }
  if (!known || is_doubtful(instruction.text)) {
    instruction.bytes = static_cast<u32>(std::min<std::size_t>(bytes.size(), 4));
    instruction.text = fmt::format(".long {:#010x}", static_cast<u32>(instruction.encoding));
    parse_instruction_text(instruction);
    return false;
  }
  instruction.bytes = static_cast<u32>(size);
  std::ranges::replace(instruction.text, '\t', ' ');
  instruction.text.erase(0, instruction.text.find_first_not_of(' '));
  parse_instruction_text(instruction);
  if (facts != nullptr) state_->fill_facts(decoded, *facts);
  return true;
}

}  // namespace monojit::emulator
