#include "codegen/build.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/bitcode.h"
#include "codegen/comgr/actions.h"
#include "codegen/memory_check.h"
#include "codegen/object/comment.h"
#include "codegen/optimise.h"
#include "codegen/target_machine.h"

namespace monojit::codegen {
namespace {

class Stopwatch {
 public:
  /// Milliseconds since the last lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> passed = now - last_;
    last_ = now;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::string kernel_name(const llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::Function& function : module) {
    if (function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && !function.isDeclaration())
      names.push_back(function.getName().str());
  }
  if (names.size() != 1) {
    throw CodegenError(
        fmt::format("a module must define one kernel, this one defines {}: {}", names.size(), fmt::join(names, ", ")));
  }
  return names.front();
}

void verify(const llvm::Module& module, const std::string& kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return;
  while (text.ends_with('\n')) text.pop_back();
  throw CodegenError(fmt::format("kernel {} is not valid LLVM IR: {}", kernel, text));
}

void check_undefined(const CodeObject& object, const std::string& kernel) {
  const std::vector<std::string> names = object.undefined_symbols();
  if (!names.empty()) {
    throw CodegenError(fmt::format("kernel {} refers to what nothing defines: {}", kernel, fmt::join(names, ", ")));
  }
}

std::vector<std::byte> run_comgr(const llvm::Module& module, const ir::Target& target, const Pipeline& pipeline,
                                 Build& build, Stopwatch& watch) {
  const comgr::ActionResult relocatable = comgr::codegen(bitcode_of(module), target.arch, pipeline.comgr_options);
  build.warnings = relocatable.warnings;
  // Before linking: the linker would name one of them, in its own words.
  check_undefined(CodeObject(relocatable.bytes), build.symbol);
  build.times_ms.codegen = watch.lap();
  comgr::ActionResult linked = comgr::link(relocatable.bytes, target.arch);
  std::ranges::move(linked.warnings, std::back_inserter(build.warnings));
  std::vector<std::byte> code_object = without_comment(linked.bytes);
  build.times_ms.link = watch.lap();
  return code_object;
}

KernelMetadata read_kernel(const CodeObject& object, const std::string& symbol) {
  std::vector<KernelMetadata> kernels = object.kernels();
  if (kernels.size() != 1 || kernels.front().symbol != symbol) {
    throw CodegenError(fmt::format("the code object does not hold kernel {} alone", symbol));
  }
  return std::move(kernels.front());
}

/// Fills `build` with what its code object tells.
Listing read_back(const CodeObject& object, const KernelMetadata& kernel, const Stages& stages, Build& build) {
  build.resources = kernel.resources;
  build.arguments = kernel.arguments;
  Listing listing(object, build.symbol);
  build.instruction_counts = listing.counts();
  if (stages.isa) build.stages.isa = listing.text();
  if (stages.metadata) build.stages.metadata = object.metadata_text();
  return listing;
}

void read_and_check(const ir::Target& target, const CodegenOptions& options, Build& build) {
  const CodeObject object(build.code_object);
  check_undefined(object, build.symbol);
  const KernelMetadata kernel = read_kernel(object, build.symbol);
  const Listing listing = read_back(object, kernel, options.stages, build);
  check_policy(kernel, listing, target, options.policy, build.warnings);
}

/// LLVM's options and comgr are one for the process.
std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Verifies, runs the passes before code generation and sees that the kernel's memory fits.
void prepare(llvm::Module& module, const std::string& symbol, const ir::Target& target, const CodegenOptions& options,
             StageTexts& texts, double& optimise_ms) {
  if (options.stages.emitted_ir) texts.emitted_ir = assembly_of(module);
  Stopwatch watch;
  verify(module, symbol);
  optimise(module, target.arch, options.pipeline.passes);
  check_memory(module, symbol, target);
  optimise_ms = watch.lap();
  if (options.stages.optimised_ir) texts.optimised_ir = assembly_of(module);
}

}  // namespace

Pipeline Pipeline::standard() {
  return {.passes = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg),amdgpu-attributor",
          .comgr_options = {"-O3", "-Xclang", "-disable-llvm-passes", "-Xclang", comgr::kUncached}};
}

Build compile(std::unique_ptr<llvm::Module> module, const ir::Target& target, const CodegenOptions& options) {
  const auto tell = [&](const char* stage) {
    if (options.on_stage) options.on_stage(stage);
  };
  tell("waiting for its turn");
  const std::scoped_lock lock(process_mutex());
  Build build;
  build.symbol = kernel_name(*module);
  tell("optimising");
  prepare(*module, build.symbol, target, options, build.stages, build.times_ms.optimise);
  Stopwatch watch;
  tell("generating code");
  build.code_object = run_comgr(*module, target, options.pipeline, build, watch);
  tell("checking the code");
  read_and_check(target, options, build);
  build.times_ms.check = watch.lap();
  return build;
}

StageTexts ir_stages(std::unique_ptr<llvm::Module> module, const ir::Target& target, const Stages& stages) {
  const std::scoped_lock lock(process_mutex());
  StageTexts texts;
  double optimise_ms = 0;
  prepare(*module, kernel_name(*module), target, {.policy = {}, .stages = stages}, texts, optimise_ms);
  return texts;
}

Build inspect(std::vector<std::byte> code_object, const std::string& symbol, const Stages& stages) {
  const std::scoped_lock lock(process_mutex());
  Build build;
  build.symbol = symbol;
  build.code_object = std::move(code_object);
  const CodeObject object(build.code_object);
  (void)read_back(object, read_kernel(object, symbol), stages, build);
  return build;
}

}  // namespace monojit::codegen
