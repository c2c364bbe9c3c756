#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/kernel_builder.h"

/// What libmonojit_codegen.so offers. The library holds emitters, LLVM and the comgr driver; this header holds none of
/// them, so that a process which finds all of its kernels in the cache never loads them. Both sides belong to one build
/// of monojit.
namespace monojit::runtime {

/// Which intermediate results of a build to return as text.
struct StageRequest {
  bool emitted_ir = false;
  bool optimised_ir = false;
  bool isa = false;
  bool metadata = false;
};

struct StageTexts {
  std::string emitted_ir;    ///< LLVM assembly as the emitter made it
  std::string optimised_ir;  ///< LLVM assembly as comgr gets it
  std::string isa;           ///< machine code with DSL lines as comments
  std::string metadata;      ///< YAML of the code object's note
};

/// Is told what a build is at next, in words ("generating code"), by the thread that builds.
struct StageObserver {
  void (*tell)(void* user, const char* stage) = nullptr;
  void* user = nullptr;
};

struct CompileRequest {
  std::string_view key;               ///< canonical text of the build key
  std::string_view generator_digest;  ///< of the key's family, as the caller knows it
  std::string_view arch;              ///< "gfx950"
  StageRequest stages;
  StageObserver observer;
};

struct Compiled {
  BuiltKernel kernel;
  StageTexts stages;
  /// Machine instructions by class name, classes that occur alone.
  std::vector<std::pair<std::string, std::uint32_t>> instructions;
};

/// No exception crosses the library's boundary: it would need one set of type information on both sides.
enum class FailureKind : std::uint8_t {
  kNone,
  kUser,      ///< what was asked for can't be
  kBuild,     ///< the kernel can't be built as written, or its code was refused
  kInternal,  ///< anything else: a bug
};

struct Failure {
  FailureKind kind = FailureKind::kNone;
  std::string text;
};

struct CompilerInterface {
  std::uint32_t version;  ///< kCompilerInterfaceVersion of the library
  Failure (*toolchain)(std::string& id);
  Failure (*compile)(const CompileRequest& request, Compiled& result);
  /// As compile(), of a kernel that was built already: ISA, metadata, resources and instructions are those of
  /// `code_object`, IR is emitted anew. The digest of the record is that of this IR. No code is generated.
  Failure (*inspect)(const CompileRequest& request, std::span<const std::byte> code_object, Compiled& result);
};

/// To be raised with every change to this header or to the types that it uses.
inline constexpr std::uint32_t kCompilerInterfaceVersion = 2;
/// The library's one symbol, a `const CompilerInterface* (*)()`.
inline constexpr const char* kCompilerEntryPoint = "monojit_compiler";
inline constexpr const char* kCompilerLibrary = "libmonojit_codegen.so";

}  // namespace monojit::runtime
