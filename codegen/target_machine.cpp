#include "codegen/target_machine.h"

#include <string>

#include <fmt/format.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Triple.h>

#include "codegen/error.h"

namespace monojit::codegen {
namespace {

const llvm::Target& register_target() {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
  if (target == nullptr) throw CodegenError(fmt::format("this LLVM has no AMDGPU target: {}", error));
  return *target;
}

}  // namespace

const llvm::Target& amdgpu_target() {
  static const llvm::Target& target = register_target();
  return target;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(std::string_view arch) {
  const llvm::StringRef cpu(arch.data(), arch.size());
  std::unique_ptr<llvm::TargetMachine> machine(
      amdgpu_target().createTargetMachine(llvm::Triple(kTriple), cpu, "", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                          std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine) throw CodegenError(fmt::format("LLVM makes no target machine for {}", arch));
  return machine;
}

}  // namespace monojit::codegen
