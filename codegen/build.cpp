#include "codegen/build.h"

#include <chrono>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/bitcode.h"
#include "codegen/comgr/actions.h"
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
  if (!relocatable.log.empty()) build.warnings.push_back(relocatable.log);
  // Before linking: the linker would name one of them, in its own words.
  check_undefined(CodeObject(relocatable.bytes), build.symbol);
  build.times_ms.codegen = watch.lap();
  comgr::ActionResult linked = comgr::link(relocatable.bytes, target.arch);
  if (!linked.log.empty()) build.warnings.push_back(linked.log);
  build.times_ms.link = watch.lap();
  return std::move(linked.bytes);
}

void read_back(const ir::Target& target, const CodegenOptions& options, Build& build) {
  const CodeObject object(build.code_object);
  check_undefined(object, build.symbol);
  const std::vector<KernelMetadata> kernels = object.kernels();
  if (kernels.size() != 1 || kernels.front().symbol != build.symbol) {
    throw CodegenError(fmt::format("the code object does not hold kernel {} alone", build.symbol));
  }
  build.resources = kernels.front().resources;
  build.arguments = kernels.front().arguments;
  const Listing listing(object, build.symbol);
  build.instruction_counts = listing.counts();
  if (options.stages.isa) build.stages.isa = listing.text();
  if (options.stages.metadata) build.stages.metadata = object.metadata_text();
  check_policy(kernels.front(), listing, target, options.policy, build.warnings);
}

}  // namespace

Pipeline Pipeline::standard() {
  // comgr keeps no result of a command with a -fprofile option. This one asks for nothing, and so keeps comgr's disk
  // cache out of the way of ours, for this call alone: AMD_COMGR_CACHE would switch it off for the whole process.
  return {.passes = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg),amdgpu-attributor",
          .comgr_options = {"-O3", "-Xclang", "-disable-llvm-passes", "-Xclang", "-fprofile-instrument=none"}};
}

Build compile(std::unique_ptr<llvm::Module> module, const ir::Target& target, const CodegenOptions& options) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  Build build;
  Stopwatch watch;
  build.symbol = kernel_name(*module);
  if (options.stages.emitted_ir) build.stages.emitted_ir = assembly_of(*module);
  watch.lap();
  verify(*module, build.symbol);
  optimise(*module, target.arch, options.pipeline.passes);
  build.times_ms.optimise = watch.lap();
  if (options.stages.optimised_ir) build.stages.optimised_ir = assembly_of(*module);
  watch.lap();
  build.code_object = run_comgr(*module, target, options.pipeline, build, watch);
  read_back(target, options, build);
  build.times_ms.check = watch.lap();
  return build;
}

}  // namespace monojit::codegen
