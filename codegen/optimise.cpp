#include "codegen/optimise.h"

#include <fmt/format.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/error.h"
#include "codegen/target_machine.h"

namespace monojit::codegen {

void optimise(llvm::Module& module, std::string_view arch, std::string_view pipeline) {
  if (pipeline.empty()) return;
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(arch);
  llvm::PassBuilder builder(machine.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, llvm::StringRef(pipeline.data(), pipeline.size()))) {
    throw CodegenError(fmt::format("pass pipeline '{}': {}", pipeline, llvm::toString(std::move(error))));
  }
  passes.run(module, modules);
}

}  // namespace monojit::codegen
