#pragma once

#include <memory>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace monojit::codegen::test {

/// A module from LLVM assembly, with the context that it lives in. Throws std::runtime_error when the text does not
/// parse.
struct ParsedModule {
  explicit ParsedModule(const std::string& assembly);
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// LLVM assembly of one kernel `symbol` with the given parameter list, body and further module text, and the attributes
/// that the DSL gives its kernels: 256 threads, no implicit arguments.
std::string kernel_assembly(const std::string& symbol, const std::string& parameters, const std::string& body,
                            const std::string& declarations = "");

/// A kernel shaped like a decode stage: `stages` times a loop of `unroll` x (two 16-byte loads, a bf16 MFMA, 8 FMAs
/// into mutable variables), then LDS hand-off behind a barrier, a wave reduction and a divergent store. About 22 IR
/// instructions an unrolled step and 60 a stage; every instruction carries a debug line.
std::string study_assembly(int stages, int unroll);

}  // namespace monojit::codegen::test
