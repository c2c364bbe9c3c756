#include "runtime/compiler/compiler_loader.h"

#include <filesystem>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/error.h"
#include "runtime/compiler/temporary_folder.h"
#include "runtime/library_search.h"

namespace monojit::runtime {
namespace {

constexpr const char* kAdvice =
    "kernels that are not in the cache can't be built; set MONOJIT_LIBRARY_DIR to the folder that holds it";

void* open_library() {
  std::vector<std::string> tried;
  for (const std::filesystem::path& path : library_candidates(kCompilerLibrary)) {
    tried.push_back(path.string());
    if (!std::filesystem::exists(path)) continue;
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* problem = dlerror();
    throw UserError(fmt::format("the compiler library can't be loaded ({}): {}",
                                problem == nullptr ? path.string() : problem, kAdvice));
  }
  throw UserError(fmt::format("the compiler library {} is missing (looked for {}): {}", kCompilerLibrary,
                              fmt::join(tried, ", "), kAdvice));
}

const CompilerInterface& load() {
  void* handle = open_library();
  using EntryPoint = const CompilerInterface* (*)();
  const auto entry = reinterpret_cast<EntryPoint>(dlsym(handle, kCompilerEntryPoint));
  if (entry == nullptr)
    throw UserError(fmt::format("{} has no {}: it is not monojit's", kCompilerLibrary, kCompilerEntryPoint));
  const CompilerInterface* interface = entry();
  if (interface->version != kCompilerInterfaceVersion) {
    throw UserError(fmt::format("{} has interface {}, this is monojit with interface {}: they are of different builds",
                                kCompilerLibrary, interface->version, kCompilerInterfaceVersion));
  }
  return *interface;
}

void raise(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kNone:
      return;
    case FailureKind::kUser:
      throw UserError(failure.text);
    case FailureKind::kBuild:
      throw CompileError(failure.text);
    case FailureKind::kInternal:
      throw InternalCompilerError(failure.text);
  }
}

}  // namespace

std::shared_ptr<Compiler> Compiler::open() {
  static const CompilerInterface& interface = load();
  return std::shared_ptr<Compiler>(new Compiler(interface));
}

std::string Compiler::toolchain() {
  std::string id;
  raise(interface_.toolchain(id));
  return id;
}

BuiltKernel Compiler::build(const kernels::BuildKey& key, std::string_view arch, const StageCallback& on_stage) {
  return compile(key, arch, {}, on_stage).kernel;
}

Compiled Compiler::compile(const kernels::BuildKey& key, std::string_view arch, const StageRequest& stages,
                           const StageCallback& on_stage) {
  check_temporary_folder();
  static std::once_flag swept;
  std::call_once(swept, sweep_temporary_folder);
  Compiled result;
  const std::string text = key.text();
  StageObserver observer;
  if (on_stage) {
    observer = {[](void* user, const char* stage) { (*static_cast<const StageCallback*>(user))(stage); },
                const_cast<StageCallback*>(&on_stage)};
  }
  raise(interface_.compile({text, key.family().generator_digest, arch, stages, observer}, result));
  return result;
}

Compiled Compiler::inspect(const kernels::BuildKey& key, std::string_view arch, std::span<const std::byte> code_object,
                           const std::string& ir_digest, const StageRequest& stages) {
  Compiled result;
  const std::string text = key.text();
  raise(interface_.inspect({text, key.family().generator_digest, arch, stages, {}}, code_object, result));
  if (const std::string& emitted = result.kernel.record.ir_digest; !emitted.empty() && emitted != ir_digest) {
    throw CompileError(fmt::format("{}: the emitter makes other IR now than the cached kernel was built of", text));
  }
  return result;
}

}  // namespace monojit::runtime
