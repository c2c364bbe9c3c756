#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>

#include <blake3.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ErrorHandling.h>

#include "codegen/bitcode.h"
#include "codegen/build.h"
#include "codegen/toolchain.h"
#include "ir/error.h"
#include "ir/target.h"
#include "kernels/common/error.h"
#include "kernels/emitters.h"
#include "runtime/compiler/compiler.h"

namespace monojit::runtime {
namespace {

/// What this thread builds, for the handler below.
thread_local std::string current_build;

/// LLVM ends the process when it meets what it can't compile. It should at least be known over what.
void report_fatal(void* /*user*/, const char* reason, bool /*crash*/) {
  const std::string text =
      fmt::format("monojit: LLVM gave up{}{}: {}\n", current_build.empty() ? "" : " on ", current_build, reason);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// Runs `work` and turns what it throws into a failure.
template <class Work>
Failure guarded(Work&& work) {
  try {
    work();
    return {};
  } catch (const UserError& error) {
    return {FailureKind::kUser, error.what()};
  } catch (const ir::BuildError& error) {
    return {FailureKind::kBuild, error.what()};
  } catch (const codegen::CodegenError& error) {
    return {FailureKind::kBuild, error.what()};
  } catch (const std::exception& error) {
    return {FailureKind::kInternal, error.what()};
  } catch (...) {
    return {FailureKind::kInternal, "an exception of unknown type"};
  }
}

const ir::Target& find_target(std::string_view arch) {
  if (const ir::Target* target = ir::find_target(arch)) return *target;
  std::vector<std::string_view> known;
  for (const ir::Target& target : ir::targets()) known.push_back(target.arch);
  throw UserError(fmt::format("arch {} is none that kernels are built for ({})", arch, fmt::join(known, ", ")));
}

/// The key as this library knows it. Its sources have to be the caller's, or the caller's cache would hold kernels
/// under a wrong name.
kernels::BuildKey find_key(const CompileRequest& request) {
  kernels::BuildKey key = kernels::BuildKey::parse(request.key);
  if (key.family().generator_digest != request.generator_digest) {
    throw UserError(fmt::format("{} was built from other sources of {} than this program: install both from one build",
                                kCompilerLibrary, key.family().name));
  }
  kernels::validate(key, request.arch);
  return key;
}

std::string digest_of(const llvm::Module& module) {
  const std::vector<std::byte> bitcode = codegen::bitcode_of(module);
  blake3_hasher hasher;
  blake3_hasher_init(&hasher);
  blake3_hasher_update(&hasher, bitcode.data(), bitcode.size());
  std::array<std::uint8_t, BLAKE3_OUT_LEN> digest{};
  blake3_hasher_finalize(&hasher, digest.data(), digest.size());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

Resources resources_of(const codegen::Resources& r) {
  return {.vgpr = r.vgpr,
          .agpr = r.agpr,
          .sgpr = r.sgpr,
          .lds_bytes = r.lds_bytes,
          .scratch_bytes = r.scratch_bytes,
          .vgpr_spills = r.vgpr_spills,
          .sgpr_spills = r.sgpr_spills,
          .code_bytes = r.code_bytes};
}

/// Optimising counts as code generation and checking as linking, so that the three times add up to the whole.
BuildTimes times_of(double emit_ms, const codegen::BuildTimes& times) {
  return {.emit = emit_ms, .codegen = times.optimise + times.codegen, .link = times.link + times.check};
}

void fill(codegen::Build&& build, Compiled& result) {
  KernelRecord& record = result.kernel.record;
  record.symbol = std::move(build.symbol);
  record.resources = resources_of(build.resources);
  record.kernarg_bytes = build.resources.kernarg_bytes;
  for (codegen::ArgumentMetadata& argument : build.arguments) {
    record.arguments.push_back({std::move(argument.name), argument.offset, argument.size});
  }
  for (std::string& warning : build.warnings) record.warnings.push_back(std::move(warning));
  result.kernel.code_object = std::move(build.code_object);
  result.stages = {std::move(build.stages.emitted_ir), std::move(build.stages.optimised_ir),
                   std::move(build.stages.isa), std::move(build.stages.metadata)};
  for (std::size_t i = 0; i < build.instruction_counts.size(); ++i) {
    const std::uint32_t count = build.instruction_counts[i];
    if (count > 0) result.instructions.emplace_back(codegen::name_of(static_cast<codegen::InstructionClass>(i)), count);
  }
}

void tell(const CompileRequest& request, const char* stage) {
  if (request.observer.tell != nullptr) request.observer.tell(request.observer.user, stage);
}

codegen::Stages stages_of(const StageRequest& stages) {
  return {stages.emitted_ir, stages.optimised_ir, stages.isa, stages.metadata};
}

/// The kernel owns the context that the module lives in.
struct Emitted {
  std::unique_ptr<ir::Kernel> kernel;
  std::unique_ptr<llvm::Module> module;
};

/// Fills the part of the record that emitting gives.
Emitted emit(const kernels::BuildKey& key, const ir::Target& target, KernelRecord& record) {
  const auto start = std::chrono::steady_clock::now();
  Emitted emitted;
  emitted.kernel = kernels::emit(key, target);
  emitted.module = emitted.kernel->finish();
  record.times_ms.emit = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  record.ir_digest = digest_of(*emitted.module);
  record.warnings = emitted.kernel->warnings();
  return emitted;
}

void compile(const CompileRequest& request, Compiled& result) {
  const ir::Target& target = find_target(request.arch);
  const kernels::BuildKey key = find_key(request);
  tell(request, "emitting IR");
  Emitted emitted = emit(key, target, result.kernel.record);
  codegen::CodegenOptions options;
  options.policy = {.persistent = key.family().launch(key).persistent};
  options.stages = stages_of(request.stages);
  options.on_stage = [&](const char* stage) { tell(request, stage); };
  codegen::Build build = codegen::compile(std::move(emitted.module), target, options);
  result.kernel.record.times_ms = times_of(result.kernel.record.times_ms.emit, build.times_ms);
  fill(std::move(build), result);
}

void inspect(const CompileRequest& request, std::span<const std::byte> code_object, Compiled& result) {
  const ir::Target& target = find_target(request.arch);
  const kernels::BuildKey key = find_key(request);
  const codegen::Stages stages = stages_of(request.stages);
  fill(codegen::inspect({code_object.begin(), code_object.end()}, key.symbol(), stages), result);
  if (!stages.emitted_ir && !stages.optimised_ir) return;
  Emitted emitted = emit(key, target, result.kernel.record);
  codegen::StageTexts texts = codegen::ir_stages(std::move(emitted.module), target, stages);
  result.stages.emitted_ir = std::move(texts.emitted_ir);
  result.stages.optimised_ir = std::move(texts.optimised_ir);
}

template <class Work>
Failure guarded_work(const CompileRequest& request, Work&& work) {
  current_build = fmt::format("{} for {}", request.key, request.arch);
  Failure failure = guarded(work);
  if (failure.kind == FailureKind::kBuild || failure.kind == FailureKind::kInternal) {
    failure.text = fmt::format("{}: {}", request.key, failure.text);
  }
  current_build.clear();
  return failure;
}

Failure guarded_compile(const CompileRequest& request, Compiled& result) {
  return guarded_work(request, [&] { compile(request, result); });
}

Failure guarded_inspect(const CompileRequest& request, std::span<const std::byte> code_object, Compiled& result) {
  return guarded_work(request, [&] { inspect(request, code_object, result); });
}

/// No comgr is a matter of the machine, not of a kernel.
Failure guarded_toolchain(std::string& id) {
  Failure failure = guarded([&] { id = codegen::toolchain_id(); });
  if (failure.kind == FailureKind::kBuild) failure.kind = FailureKind::kUser;
  return failure;
}

constexpr CompilerInterface kInterface = {kCompilerInterfaceVersion, guarded_toolchain, guarded_compile,
                                          guarded_inspect};

}  // namespace
}  // namespace monojit::runtime

extern "C" __attribute__((visibility("default"))) const monojit::runtime::CompilerInterface* monojit_compiler() {
  static const bool installed = [] {
    llvm::remove_fatal_error_handler();  // LLVM takes one at a time
    llvm::install_fatal_error_handler(monojit::runtime::report_fatal);
    return true;
  }();
  (void)installed;
  return &monojit::runtime::kInterface;
}
