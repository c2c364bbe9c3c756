#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/compiler/compiler.h"
#include "runtime/kernel_builder.h"

namespace monojit::runtime {

/// A kernel could not be built: the emitter, LLVM, comgr or the build policy refused it.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A bug in the compiler showed itself while it built a kernel.
class InternalCompilerError : public CompileError {
 public:
  using CompileError::CompileError;
};

/// libmonojit_codegen.so, opened. May be used from any thread; builds take turns where LLVM wants them to.
class Compiler final : public KernelBuilder {
 public:
  /// Throws UserError when the library is missing, can't be loaded or belongs to another build of monojit. It stays
  /// loaded until the process ends.
  static std::shared_ptr<Compiler> open();

  /// Throws UserError when comgr is missing.
  std::string toolchain() override;
  BuiltKernel build(const kernels::BuildKey& key, std::string_view arch, const StageCallback& on_stage = {}) override;
  /// build() that also returns the stages asked for. Throws UserError when the key can't be built for `arch`,
  /// CompileError when the build fails.
  Compiled compile(const kernels::BuildKey& key, std::string_view arch, const StageRequest& stages,
                   const StageCallback& on_stage = {});
  /// The stages of a kernel that was built already, from its code object; IR is emitted anew. Throws as compile() does,
  /// and CompileError when the IR is not the one that the code object was made of (`ir_digest`).
  Compiled inspect(const kernels::BuildKey& key, std::string_view arch, std::span<const std::byte> code_object,
                   const std::string& ir_digest, const StageRequest& stages);

 private:
  explicit Compiler(const CompilerInterface& interface) : interface_(interface) {}
  const CompilerInterface& interface_;
};

}  // namespace monojit::runtime
