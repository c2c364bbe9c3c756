#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm/Support/ErrorHandling.h>

#include "kernels/common/error.h"
#include "kernels/common/family.h"
#include "runtime/compiler/compiler_loader.h"
#include "toolchain_id.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr const char* kKeys[] = {"example.row_norm{rows=4,hidden=512}", "minimax_m3.k1{tokens=1}",
                                 "minimax_m3.k1{tokens=2}"};
constexpr const char* kArchs[] = {"gfx942", "gfx950"};
constexpr std::size_t kDigestText = 64;  // hex digits of a BLAKE3 digest

/// What a shell command prints, standard error included.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t size = 0; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, size);
  pclose(pipe);
  return text;
}

/// Runs the hidden test cases with `tag` in a process of its own under `environment`.
std::string child(const std::string& environment, const std::string& tag) {
  return output_of(
      fmt::format("{} '{}' '{}'", environment, std::filesystem::canonical("/proc/self/exe").string(), tag));
}

const CompilerInterface& raw_interface() {
  void* handle = dlopen(MONOJIT_CODEGEN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  return *reinterpret_cast<const CompilerInterface* (*)()>(dlsym(handle, kCompilerEntryPoint))();
}

TEST_CASE("a key becomes a code object with the key's symbol and the family's arguments") {
  const auto compiler = Compiler::open();
  for (const char* text : kKeys) {
    for (const char* arch : kArchs) {
      CAPTURE(text, arch);
      const kernels::BuildKey key = kernels::BuildKey::parse(text);
      const BuiltKernel built = compiler->build(key, arch);
      CHECK_FALSE(built.code_object.empty());
      CHECK(built.record.symbol == key.symbol());
      CHECK(built.record.ir_digest.size() == kDigestText);
      CHECK(built.record.resources.code_bytes > 0);
      CHECK(built.record.resources.scratch_bytes == 0);
      CHECK(built.record.times_ms.emit > 0);
      CHECK(built.record.times_ms.codegen > 0);
      CHECK(built.record.times_ms.link > 0);
      const auto arguments = key.family().arguments;
      REQUIRE(built.record.arguments.size() == arguments.size());
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        CHECK(built.record.arguments[i].name == arguments[i].name);
        CHECK(built.record.arguments[i].size == kernels::argument_bytes(arguments[i].type));
      }
    }
  }
}

TEST_CASE("the same key gives the same bytes, another key other ones") {
  const auto compiler = Compiler::open();
  const auto first = kernels::BuildKey::parse("minimax_m3.k1{tokens=1}");
  const auto second = kernels::BuildKey::parse("minimax_m3.k1{tokens=2}");
  const BuiltKernel built = compiler->build(first, "gfx950");
  const BuiltKernel again = compiler->build(first, "gfx950");
  CHECK(built.code_object == again.code_object);
  CHECK(built.record.ir_digest == again.record.ir_digest);
  const BuiltKernel other = compiler->build(second, "gfx950");
  CHECK(built.code_object != other.code_object);
  CHECK(built.record.ir_digest != other.record.ir_digest);
}

TEST_CASE("the stages of a build come as text, with the emitter's lines") {
  const auto compiler = Compiler::open();
  const Compiled compiled =
      compiler->compile(kernels::BuildKey::parse("minimax_m3.k1{tokens=1}"), "gfx950", {true, true, true, true});
  CHECK_THAT(compiled.stages.emitted_ir, ContainsSubstring("define") && ContainsSubstring("amdgpu_kernel"));
  CHECK_THAT(compiled.stages.optimised_ir, ContainsSubstring("amdgpu_kernel"));
  CHECK_THAT(compiled.stages.isa, ContainsSubstring("s_endpgm") && ContainsSubstring("; kernels/minimax_m3/k1/"));
  CHECK_THAT(compiled.stages.metadata, ContainsSubstring(".kernarg_segment_size"));
  CHECK_FALSE(compiled.instructions.empty());
}

TEST_CASE("the library found compiles with the toolchain that this build is pinned to") {
  CHECK(Compiler::open()->toolchain() == kPinnedToolchain);
}

TEST_CASE("an arch that kernels are not built for is the user's error, with those that are") {
  const auto key = kernels::BuildKey::parse("example.row_norm{rows=4,hidden=512}");
  CHECK_THROWS_MATCHES(
      Compiler::open()->build(key, "gfx1100"), UserError,
      MessageMatches(ContainsSubstring("gfx1100") && ContainsSubstring("gfx942") && ContainsSubstring("gfx950")));
}

TEST_CASE("a library built from other sources refuses to build") {
  Compiled compiled;
  const Failure failure = raw_interface().compile({"minimax_m3.k1{tokens=1}", "0123", "gfx950", {}, {}}, compiled);
  CHECK(failure.kind == FailureKind::kUser);
  CHECK_THAT(failure.text, ContainsSubstring("other sources") && ContainsSubstring("minimax_m3.k1"));
}

TEST_CASE("a key that does not parse comes back as the user's error") {
  Compiled compiled;
  const Failure failure = raw_interface().compile({"minimax_m3.k1{tokens=99}", "", "gfx950", {}, {}}, compiled);
  CHECK(failure.kind == FailureKind::kUser);
  CHECK_THAT(failure.text, ContainsSubstring("tokens"));
}

TEST_CASE("the library shows one symbol") {
  const std::string symbols = output_of(fmt::format("nm -D --defined-only '{}'", MONOJIT_CODEGEN_LIBRARY));
  CHECK_THAT(symbols, Catch::Matchers::EndsWith(" T monojit_compiler\n"));
  CHECK(std::count(symbols.begin(), symbols.end(), '\n') == 1);
}

TEST_CASE("child: open the compiler and build", "[.][build-child]") {
  try {
    const auto compiler = Compiler::open();
    try {
      fmt::print("toolchain {}\n", compiler->toolchain());
    } catch (const UserError& error) {
      fmt::print("toolchain: user error: {}\n", error.what());
    }
    compiler->build(kernels::BuildKey::parse("example.row_norm{rows=4,hidden=512}"), "gfx950");
    fmt::print("built\n");
  } catch (const UserError& error) {
    fmt::print("user error: {}\n", error.what());
  } catch (const CompileError& error) {
    fmt::print("compile error: {}\n", error.what());
  }
}

TEST_CASE("a missing library is the user's error, with the place that was looked at") {
  CHECK_THAT(child("MONOJIT_LIBRARY_DIR=/nonexistent", "[build-child]"),
             ContainsSubstring("user error: the compiler library") &&
                 ContainsSubstring("/nonexistent/libmonojit_codegen.so") && ContainsSubstring("MONOJIT_LIBRARY_DIR"));
}

TEST_CASE("without comgr the toolchain is the user's error, and a build says which kernel it was for") {
  const std::string text = child("MONOJIT_COMGR_LIBRARY=/nonexistent/libamd_comgr.so", "[build-child]");
  CHECK_THAT(text,
             ContainsSubstring("toolchain: user error: comgr") && ContainsSubstring("/nonexistent/libamd_comgr.so"));
  CHECK_THAT(text, ContainsSubstring("compile error: example.row_norm{"));
}

TEST_CASE("child: LLVM gives up", "[.][fatal-child]") {
  Compiler::open();
  llvm::reportFatalUsageError("no such instruction (synthetic)");
}

TEST_CASE("LLVM does not end the process without a word") {
  CHECK_THAT(child("", "[fatal-child]"), ContainsSubstring("monojit: LLVM gave up: no such instruction (synthetic)"));
}

}  // namespace
}  // namespace monojit::runtime
