#include "codegen/memory_check.h"

#include <cstdint>

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/error.h"
#include "codegen/optimise.h"

namespace monojit::codegen {
namespace {

constexpr unsigned kLdsAddressSpace = 3;

/// A wave's scratch is at most 2^13 - 1 KiB on gfx942 and gfx950, in 64 lanes.
constexpr std::uint64_t kScratchBytesPerLane = ((1U << 13) - 1) * 1024 / 64;

/// What the LDS variables take however they are placed.
std::uint64_t lds_bound(const llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  std::uint64_t bytes = 0;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != kLdsAddressSpace) continue;
    llvm::Type* type = variable.getValueType();
    const llvm::Align align = layout.getValueOrABITypeAlignment(variable.getAlign(), type);
    bytes += layout.getTypeAllocSize(type).getFixedValue() + align.value() - 1;
  }
  return bytes;
}

/// What LLVM places for `kernel`.
std::uint64_t placed_lds(const llvm::Module& module, const std::string& kernel, std::string_view arch) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  optimise(*copy, arch, "amdgpu-lower-module-lds");
  return copy->getFunction(kernel)->getFnAttributeAsParsedInteger("amdgpu-lds-size");
}

std::uint64_t stack_bytes(const llvm::Module& module) {
  std::uint64_t bytes = 0;
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (array == nullptr) continue;
      bytes += array->getAllocationSize(module.getDataLayout()).value_or(llvm::TypeSize::getFixed(0)).getFixedValue();
    }
  }
  return bytes;
}

}  // namespace

void check_memory(const llvm::Module& module, const std::string& kernel, const ir::Target& target) {
  if (lds_bound(module) > target.lds_bytes) {
    const std::uint64_t bytes = placed_lds(module, kernel, target.arch);
    if (bytes > target.lds_bytes) {
      throw CodegenError(fmt::format("kernel {} is refused for {}: {} bytes of LDS, {} has {}", kernel, target.arch,
                                     bytes, target.arch, target.lds_bytes));
    }
  }
  const std::uint64_t stack = stack_bytes(module);
  if (stack > kScratchBytesPerLane) {
    throw CodegenError(fmt::format("kernel {} is refused for {}: arrays of {} bytes a lane on its stack, {} has {}",
                                   kernel, target.arch, stack, target.arch, kScratchBytesPerLane));
  }
}

}  // namespace monojit::codegen
