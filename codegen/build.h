#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codegen/error.h"
#include "codegen/isa/listing.h"
#include "codegen/object/resources.h"
#include "codegen/policy.h"
#include "ir/target.h"

namespace llvm {
class Module;
}

namespace monojit::codegen {

/// Which intermediate results to keep as text.
struct Stages {
  bool emitted_ir = false;
  bool optimised_ir = false;
  bool isa = false;
  bool metadata = false;
};

struct StageTexts {
  std::string emitted_ir;    ///< LLVM assembly as it came
  std::string optimised_ir;  ///< LLVM assembly as comgr gets it
  std::string isa;           ///< machine code with DSL lines as comments
  std::string metadata;      ///< YAML of the code object's note
};

/// What passes run before code generation, in the language of `opt -passes=`, and what comgr's clang is told.
/// docs/codegen-pipeline.md has the measurements behind the default.
struct Pipeline {
  std::string passes;
  std::vector<std::string> comgr_options;

  static Pipeline standard();
};

struct CodegenOptions {
  Policy policy;
  Stages stages;
  Pipeline pipeline = Pipeline::standard();
  std::function<void(const char*)> on_stage = {};  ///< told what the build is at next, in words
};

/// Milliseconds by the clock.
struct BuildTimes {
  double optimise = 0;  ///< verification and passes
  double codegen = 0;   ///< comgr, bitcode to relocatable
  double link = 0;      ///< comgr, relocatable to executable
  double check = 0;     ///< reading the code object, disassembly, policy
};

/// One kernel, compiled and within the policy.
struct Build {
  std::vector<std::byte> code_object;
  std::string symbol;
  Resources resources;
  std::vector<ArgumentMetadata> arguments;
  InstructionCounts instruction_counts{};
  BuildTimes times_ms;
  std::vector<std::string> warnings;
  StageTexts stages;
};

/// Compiles a module that defines exactly one kernel. The same module gives the same bytes. Calls of several threads
/// take turns, as comgr and LLVM's options are one for the process. Throws CodegenError when the module is not valid
/// LLVM IR, comgr is missing or refuses it, something in it is undefined, or the result breaks the policy.
Build compile(std::unique_ptr<llvm::Module> module, const ir::Target& target, const CodegenOptions& options = {});

/// The stages of IR that compile() would return, with no code made. Throws as compile() does.
StageTexts ir_stages(std::unique_ptr<llvm::Module> module, const ir::Target& target, const Stages& stages);

/// All that a code object of kernel `symbol` tells of its build: resources, arguments, counts, and of the stages the
/// ISA and the metadata. Throws CodegenError when the object does not hold this kernel alone, or can't be read.
Build inspect(std::vector<std::byte> code_object, const std::string& symbol, const Stages& stages);

}  // namespace monojit::codegen
