#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "codegen/build.h"
#include "tests/codegen/sample_kernels.h"

namespace monojit::codegen {
namespace {

namespace fs = std::filesystem;

using Catch::Matchers::ContainsSubstring;
using test::kernel_assembly;
using test::ParsedModule;

constexpr const char* kParameters = "ptr addrspace(1) %out, i32 %n";

/// out[thread] = n + thread
const std::string kStoreBody = R"(
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %sum = add i32 %n, %tid
  %index = zext i32 %tid to i64
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %index
  store i32 %sum, ptr addrspace(1) %to, align 4
  ret void
)";

Build build(const std::string& assembly, const CodegenOptions& options = {},
            const ir::Target& target = ir::kTargetGfx950) {
  ParsedModule parsed(assembly);
  return compile(std::move(parsed.module), target, options);
}

CodegenOptions persistent() { return {.policy = {.persistent = true}, .stages = {}}; }

/// Why the build fails; "" when it does not.
std::string refusal(const std::string& assembly, const CodegenOptions& options = {},
                    const ir::Target& target = ir::kTargetGfx950) {
  try {
    build(assembly, options, target);
  } catch (const CodegenError& error) {
    return error.what();
  }
  return "";
}

/// `count` values that are all alive at one point, loaded and stored at constant distances from one address.
std::string pressure_body(int count) {
  std::string body =
      "  %tid = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %base = getelementptr i32, ptr addrspace(1) %out, i32 %tid\n";
  for (int i = 0; i < count; ++i) {
    body += fmt::format(
        "  %p{0} = getelementptr i32, ptr addrspace(1) %base, i64 {0}\n"
        "  %v{0} = load volatile i32, ptr addrspace(1) %p{0}, align 4\n",
        i);
  }
  for (int i = count - 1; i >= 0; --i) {
    body += fmt::format("  store volatile i32 %v{0}, ptr addrspace(1) %p{0}, align 4\n", i);
  }
  return body + "  ret void\n";
}

/// Half of a scratch array is written and read at an index that only the launch knows.
const std::string kScratchBody = R"(
  %array = alloca [64 x i32], align 4, addrspace(5)
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %a = getelementptr i32, ptr addrspace(5) %array, i32 %tid
  store volatile i32 %n, ptr addrspace(5) %a, align 4
  %b = getelementptr i32, ptr addrspace(5) %array, i32 %n
  %v = load volatile i32, ptr addrspace(5) %b, align 4
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
)";

TEST_CASE("a module becomes a code object with its kernel's symbol, arguments and resources") {
  for (const ir::Target& target : {ir::kTargetGfx942, ir::kTargetGfx950}) {
    const Build built = build(kernel_assembly("add", kParameters, kStoreBody), persistent(), target);
    CHECK(CodeObject(built.code_object).arch() == target.arch);
    CHECK(built.symbol == "add");
    REQUIRE(built.arguments.size() == 2);
    CHECK(built.arguments[0] == ArgumentMetadata{"out", 0, 8, "global_buffer"});
    CHECK(built.arguments[1] == ArgumentMetadata{"n", 8, 4, "by_value"});
    CHECK(built.resources.kernarg_bytes == 12);
    CHECK(built.resources.vgpr > 0);
    CHECK(built.resources.scratch_bytes == 0);
    CHECK(built.resources.code_bytes > 0);
    CHECK(built.resources.max_workgroup_size == 256);
    CHECK(built.resources.waves_per_simd == 8);
    CHECK(built.warnings.empty());
    CHECK(built.times_ms.codegen > 0);
    CHECK(built.times_ms.link > 0);
  }
}

TEST_CASE("the same module gives the same bytes") {
  constexpr int kStages = 2;
  constexpr int kUnroll = 3;
  const std::string assembly = test::study_assembly(kStages, kUnroll);
  const Build first = build(assembly);
  CHECK(first.code_object == build(assembly).code_object);
  CHECK(first.code_object != build(test::study_assembly(kStages, kUnroll + 1)).code_object);
}

TEST_CASE("threads may compile at the same time") {
  constexpr std::size_t kThreads = 3;
  const std::string assembly = kernel_assembly("add", kParameters, kStoreBody);
  std::vector<std::vector<std::byte>> objects(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::vector<std::byte>& object : objects) threads.emplace_back([&] { object = build(assembly).code_object; });
  }
  CHECK_FALSE(objects[0].empty());
  for (const std::vector<std::byte>& object : objects) CHECK(object == objects[0]);
}

const std::string kWarningBody = "  call void asm sideeffect \".warning \\22careful\\22\", \"\"()\n" + kStoreBody;

TEST_CASE("what the assembler warns of is a warning of the build") {
  const Build built = build(kernel_assembly("wary", kParameters, kWarningBody));
  REQUIRE(built.warnings.size() == 1);
  CHECK_THAT(built.warnings.front(), ContainsSubstring("warning: ") && ContainsSubstring("inline asm"));
}

constexpr const char* kChildOutput = "BUILD_CHILD_OUTPUT";

// Run by the tests below in a process of its own, as comgr and what it calls look at the environment.
TEST_CASE("child: build one kernel", "[.][build-child]") {
  const Build built = build(kernel_assembly("add", kParameters, kWarningBody));
  std::ofstream file(std::getenv(kChildOutput), std::ios::binary);
  for (const std::string& warning : built.warnings) file << warning << '\n';
  const std::vector<std::byte>& object = built.code_object;
  file.write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
  REQUIRE(file.flush());
}

/// Warnings and code object of a build with these assignments in its environment; "-u NAME" takes one away.
std::string built_with(const std::string& assignments, const fs::path& folder) {
  const fs::path output = folder / "object";
  const std::string command = fmt::format("env {} {}='{}' '{}' '[build-child]' > /dev/null 2>&1", assignments,
                                          kChildOutput, output.string(), fs::canonical("/proc/self/exe").string());
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
  std::ifstream file(output, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("what the environment says to comgr, clang or the linker changes no code object and no warning") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("monojit-build-{}", getpid());
  fs::create_directories(folder);
  const fs::path comgr_cache = folder / "comgr";
  const std::string object = built_with(
      fmt::format("-u AMD_COMGR_CACHE -u LLD_VERSION AMD_COMGR_CACHE_DIR='{}'", comgr_cache.string()), folder);
  CHECK_FALSE(object.empty());
  CHECK_FALSE(fs::exists(comgr_cache));
  // In two pairs of parentheses: a failure shall not print the bytes.
  CHECK((built_with("LLD_VERSION=1", folder) == object));
  CHECK((built_with("LLVM_OVERRIDE_PRODUCER=x AMD_COMGR_EMIT_VERBOSE_LOGS=1", folder) == object));
  CHECK((built_with("CCC_OVERRIDE_OPTIONS='#O0 +-O0'", folder) == object));
  CHECK((built_with("SOURCE_DATE_EPOCH=1 CPATH=/ COMPILER_PATH=/ LIBRARY_PATH=/", folder) == object));
  fs::remove_all(folder);
}

TEST_CASE("every stage that was asked for is kept as text, and no other") {
  const std::string assembly = test::study_assembly(1, 1);
  const Build all = build(assembly, {.policy = {}, .stages = {true, true, true, true}});
  CHECK_THAT(all.stages.emitted_ir, ContainsSubstring("alloca") && ContainsSubstring("@study"));
  CHECK_THAT(all.stages.optimised_ir, !ContainsSubstring("alloca") && ContainsSubstring("@study"));
  CHECK_THAT(all.stages.isa, ContainsSubstring("v_mfma_f32_16x16x32_bf16") && ContainsSubstring("; study.cpp:"));
  CHECK_THAT(all.stages.metadata, ContainsSubstring("amdhsa.kernels") && ContainsSubstring(".vgpr_count"));
  const Build none = build(assembly);
  CHECK(none.stages.emitted_ir.empty());
  CHECK(none.stages.optimised_ir.empty());
  CHECK(none.stages.isa.empty());
  CHECK(none.stages.metadata.empty());
  CHECK(all.code_object == none.code_object);
}

TEST_CASE("a module that LLVM's verifier rejects is an error with the verifier's words") {
  const std::string body = "  call void @llvm.amdgcn.s.sleep(i32 %n)\n  ret void\n";  // wants a literal
  CHECK_THAT(refusal(kernel_assembly("sleepy", kParameters, body, "declare void @llvm.amdgcn.s.sleep(i32)")),
             ContainsSubstring("sleepy") && ContainsSubstring("not valid LLVM IR") && ContainsSubstring("immarg"));
}

TEST_CASE("a module must define one kernel") {
  CHECK_THAT(refusal("define void @helper() { ret void }"), ContainsSubstring("one kernel") && ContainsSubstring("0"));
  CHECK_THAT(
      refusal("define amdgpu_kernel void @first() { ret void }\ndefine amdgpu_kernel void @second() { ret void }"),
      ContainsSubstring("one kernel") && ContainsSubstring("first, second"));
}

TEST_CASE("an undefined function is named") {
  const std::string body = "  call void @mislaid()\n  ret void\n";
  CHECK_THAT(refusal(kernel_assembly("caller", kParameters, body, "declare void @mislaid()")),
             ContainsSubstring("caller") && ContainsSubstring("nothing defines") && ContainsSubstring("mislaid"));
}

TEST_CASE("what comgr's code generator says is in the error") {
  const std::string body = "  call void asm sideeffect \"v_conjure_b32 v0\", \"\"()\n  ret void\n";
  CHECK_THAT(refusal(kernel_assembly("conjurer", kParameters, body)),
             ContainsSubstring("code generation") && ContainsSubstring("gfx950") &&
                 ContainsSubstring("cannot compile inline asm"));
}

std::string with_lds(int bytes) {
  const std::string body = R"(
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i8, ptr addrspace(3) @shared, i32 %tid
  store volatile i8 1, ptr addrspace(3) %at, align 1
  ret void
)";
  return kernel_assembly("hoarder", kParameters, body,
                         fmt::format("@shared = internal addrspace(3) global [{} x i8] poison, align 16", bytes));
}

constexpr int kKiB = 1024;

// comgr must not be who finds out: it crashes on about one of a hundred such kernels.
TEST_CASE("more LDS than the chip has is an error with both numbers") {
  CHECK(build(with_lds(160 * kKiB)).resources.lds_bytes == 160 * kKiB);
  CHECK_THAT(refusal(with_lds(160 * kKiB + 16)), ContainsSubstring("163856") && ContainsSubstring("163840") &&
                                                     ContainsSubstring("hoarder") && !ContainsSubstring("comgr"));
  CHECK(build(with_lds(64 * kKiB), {}, ir::kTargetGfx942).resources.lds_bytes == 64 * kKiB);
  CHECK_THAT(refusal(with_lds(64 * kKiB + 16), {}, ir::kTargetGfx942),
             ContainsSubstring("65552") && ContainsSubstring("65536") && ContainsSubstring("hoarder"));
}

TEST_CASE("a larger stack than a lane can have is an error with both numbers") {
  const auto with_array = [](int words) {
    return kernel_assembly("sprawler", kParameters,
                           fmt::format(R"(
  %array = alloca [{} x i32], align 4, addrspace(5)
  %at = getelementptr i32, ptr addrspace(5) %array, i32 %n
  store volatile i32 %n, ptr addrspace(5) %at, align 4
  ret void
)",
                                       words));
  };
  constexpr int kMost = 131056;
  CHECK(build(with_array(kMost / 4 - 4)).resources.scratch_bytes <= kMost);
  CHECK_THAT(refusal(with_array(kMost / 4 + 1)), ContainsSubstring("131060") && ContainsSubstring("131056") &&
                                                     ContainsSubstring("sprawler") && !ContainsSubstring("comgr"));
}

TEST_CASE("scratch is refused in a persistent kernel alone") {
  const std::string assembly = kernel_assembly("scribbler", kParameters, kScratchBody);
  CHECK(build(assembly).resources.scratch_bytes >= 256);
  CHECK_THAT(refusal(assembly, persistent()),
             ContainsSubstring("scribbler") && ContainsSubstring("bytes of scratch") && ContainsSubstring("limit 0"));
}

TEST_CASE("spilled VGPRs are refused in a persistent kernel, with their number") {
  constexpr int kMoreThanTheFile = 280;  // two waves a SIMD leave each 256 registers
  const std::string assembly = kernel_assembly("crowded", kParameters, pressure_body(kMoreThanTheFile));
  const Build built = build(assembly);
  REQUIRE(built.resources.vgpr_spills > 0);
  CHECK_THAT(
      refusal(assembly, persistent()),
      ContainsSubstring("crowded") && ContainsSubstring(fmt::format("{} VGPRs spilled", built.resources.vgpr_spills)));
}

TEST_CASE("spilled SGPRs are a warning with their number") {
  constexpr int kMoreThanTheFile = 130;
  std::string body;
  for (int i = 0; i < kMoreThanTheFile; ++i)
    body += fmt::format("  %s{} = call i32 asm sideeffect \"s_mov_b32 $0, {}\", \"=s\"()\n", i, i % 64);
  for (int i = 0; i < kMoreThanTheFile; ++i)
    body += fmt::format("  call void asm sideeffect \"s_nop 0 ; $0\", \"s\"(i32 %s{})\n", i);
  const Build built = build(kernel_assembly("scalars", kParameters, body + "  ret void\n"), persistent());
  REQUIRE(built.resources.sgpr_spills > 0);
  REQUIRE(built.warnings.size() == 1);
  CHECK_THAT(built.warnings.front(), ContainsSubstring(fmt::format("{} SGPRs spilled", built.resources.sgpr_spills)));
}

TEST_CASE("a stack of unknown size is refused in any kernel") {
  const std::string body = R"(
  %size = add i32 %n, 1
  br label %next
next:
  %array = alloca i32, i32 %size, align 4, addrspace(5)
  store volatile i32 1, ptr addrspace(5) %array, align 4
  ret void
)";
  CHECK_THAT(refusal(kernel_assembly("boundless", kParameters, body)),
             ContainsSubstring("boundless") && ContainsSubstring("stack of unknown size"));
}

/// A matrix product whose result only the first 16 lanes store.
std::string scaled_mfma(const std::string& guard) {
  const std::string body = R"(
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %index = zext i32 %tid to i64
  %from = getelementptr <8 x i32>, ptr addrspace(1) %out, i64 %index
  %a = load <8 x i32>, ptr addrspace(1) %from, align 16
  %m = call <4 x float> @llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32(<8 x i32> %a, <8 x i32> %a, <4 x float> zeroinitializer, i32 0, i32 0, i32 0, i32 %n, i32 0, i32 %n)
)" + guard + R"(
  %low = icmp slt i32 %tid, 16
  br i1 %low, label %then, label %end
then:
  %to = getelementptr <4 x float>, ptr addrspace(1) %out, i64 %index
  store <4 x float> %r, ptr addrspace(1) %to, align 16
  br label %end
end:
  ret void
)";
  return kernel_assembly("scaled", kParameters, body,
                         "declare <4 x float> @llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32(<8 x i32>, <8 x "
                         "i32>, <4 x float>, i32, "
                         "i32, i32, i32, i32, i32)");
}

TEST_CASE("a scaled MFMA that LLVM moved behind a divergent branch is refused, a guarded one passes") {
  const std::string none = "  %r = fadd <4 x float> %m, zeroinitializer\n";
  const std::string guard = "  %r = call <4 x float> asm sideeffect \"\", \"=v,0\"(<4 x float> %m)\n";
  CHECK_THAT(refusal(scaled_mfma(none)), ContainsSubstring("scaled") && ContainsSubstring("lanes switched off") &&
                                             ContainsSubstring("v_mfma_scale_f32_16x16x128_f8f6f4"));
  const Build guarded = build(scaled_mfma(guard));
  CHECK(guarded.instruction_counts[static_cast<std::size_t>(InstructionClass::kMfma)] == 1);
  CHECK(guarded.warnings.empty());
}

TEST_CASE("a plain MFMA written inside a divergent branch is a warning") {
  const std::string body = R"(
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %low = icmp slt i32 %tid, 16
  br i1 %low, label %then, label %end
then:
  %index = zext i32 %tid to i64
  %from = getelementptr <8 x bfloat>, ptr addrspace(1) %out, i64 %index
  %a = load <8 x bfloat>, ptr addrspace(1) %from, align 16
  %m = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.bf16(<8 x bfloat> %a, <8 x bfloat> %a, <4 x float> zeroinitializer, i32 0, i32 0, i32 0)
  store <4 x float> %m, ptr addrspace(1) %from, align 16
  br label %end
end:
  ret void
)";
  const Build built = build(kernel_assembly("masked", kParameters, body,
                                            "declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.bf16(<8 x bfloat>, <8 "
                                            "x bfloat>, <4 x float>, i32, i32, i32)"));
  REQUIRE(built.warnings.size() == 1);
  CHECK_THAT(built.warnings.front(), ContainsSubstring("1 MFMA(s)") && ContainsSubstring("v_mfma_f32_16x16x32_bf16"));
}

TEST_CASE("a pass pipeline that does not parse is an error that shows it") {
  CodegenOptions options;
  options.pipeline.passes = "function(make-it-fast)";
  CHECK_THAT(refusal(kernel_assembly("add", kParameters, kStoreBody), options),
             ContainsSubstring("make-it-fast") && ContainsSubstring("pass"));
}

}  // namespace
}  // namespace monojit::codegen
