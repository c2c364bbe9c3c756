#include "tests/ir/ir_text.h"

#include <catch2/catch_test_macros.hpp>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/optimise.h"

namespace monojit::ir::test {

namespace {

void check_valid(const llvm::Module& module) {
  std::string objections;
  llvm::raw_string_ostream stream(objections);
  const bool broken = llvm::verifyModule(module, &stream);
  INFO(objections);
  CHECK_FALSE(broken);
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

std::string finished_text(Kernel& kernel) {
  const std::unique_ptr<llvm::Module> module = kernel.finish();
  check_valid(*module);
  return print(*module);
}

std::string folded_text(Kernel& kernel) {
  const std::unique_ptr<llvm::Module> module = kernel.finish();
  check_valid(*module);
  codegen::optimise(*module, kernel.target().arch, "default<O2>");
  return print(*module);
}

}  // namespace monojit::ir::test
