#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <llvm/IR/Module.h>

#include "codegen/build.h"
#include "ir/dsl.h"
#include "tests/ir/ir_text.h"
#include "tests/ir/probe.h"

namespace monojit::ir {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr ArgumentSpec kArguments[] = {
    {.name = "weights", .alignment = 16, .written = false}, {.name = "layer", .type = ArgumentType::kInt32},
    {.name = "epsilon", .type = ArgumentType::kFloat32},    {.name = "stamp", .type = ArgumentType::kInt64},
    {.name = "out", .alignment = 8, .no_alias = false},
};
constexpr std::uint32_t kThreads = 320;

/// Uses every argument.
void emit_sample(Kernel& kernel) {
  const auto weights = kernel.argument<Ptr<BFloat16, Global>>("weights");
  const auto out = kernel.argument<Ptr<Float32, Global>>("out");
  const LdsArray<Float32> shared = LdsLayout().array<Float32>("shared", kThreads);
  const Float32 x = extend<float>(load(weights + thread_id())) + kernel.argument<Float32>("epsilon");
  store(shared + thread_id(), x * convert<float>(kernel.argument<Int32>("layer")));
  barrier();
  store(out + workgroup_id() * static_cast<int>(kThreads) + thread_id(), load(shared + (thread_id() ^ 1)));
  If(thread_id() == 0, [&] { store(pointer_cast<Int64>(out), Int64(kernel.argument<Int64>("stamp"))); });
}

codegen::Build build_sample(const Target& target, std::uint32_t min_waves = 0) {
  Kernel kernel({.name = "sample",
                 .target = target,
                 .workgroup_size = kThreads,
                 .min_waves_per_eu = min_waves,
                 .arguments = kArguments});
  emit_sample(kernel);
  codegen::CodegenOptions options;
  options.stages = {.emitted_ir = true, .optimised_ir = true, .isa = true, .metadata = true};
  return codegen::compile(kernel.finish(), target, options);
}

TEST_CASE("Argument names, order, offsets and kinds reach the code object, and no hidden argument does") {
  for (const Target& target : targets()) {
    const codegen::Build build = build_sample(target);
    const std::vector<codegen::ArgumentMetadata> expected = {
        {"weights", 0, 8, "global_buffer"}, {"layer", 8, 4, "by_value"},     {"epsilon", 12, 4, "by_value"},
        {"stamp", 16, 8, "by_value"},       {"out", 24, 8, "global_buffer"},
    };
    CHECK(build.arguments == expected);
    CHECK(build.symbol == "sample");
    CHECK(build.resources.kernarg_bytes == 32);
  }
}

TEST_CASE("The workgroup's size and LDS reach the code object") {
  for (const Target& target : targets()) {
    const codegen::Build build = build_sample(target);
    CHECK(build.resources.max_workgroup_size == kThreads);
    CHECK(build.resources.lds_bytes == kThreads * 4);
    CHECK(build.resources.scratch_bytes == 0);
    CHECK_THAT(build.stages.metadata, ContainsSubstring(".uniform_work_group_size: 1"));
  }
}

TEST_CASE("What an argument promises stands in the IR") {
  Kernel kernel({.name = "promises", .workgroup_size = kThreads, .min_waves_per_eu = 2, .arguments = kArguments});
  emit_sample(kernel);
  const std::string text = test::finished_text(kernel);
  CHECK_THAT(text, ContainsSubstring("ptr addrspace(1) noalias readonly align 16 %weights, i32 %layer, float %epsilon, "
                                     "i64 %stamp, ptr addrspace(1) align 8 %out"));
  CHECK_THAT(text, ContainsSubstring("\"amdgpu-flat-work-group-size\"=\"320,320\""));
  CHECK_THAT(text, ContainsSubstring("\"amdgpu-waves-per-eu\"=\"2\""));
  CHECK_THAT(text, ContainsSubstring("\"uniform-work-group-size\"=\"true\""));
  CHECK_THAT(text, ContainsSubstring("amdhsa_code_object_version\", i32 500"));
}

TEST_CASE("Instructions carry the line that wrote them, with a relative file name") {
  Kernel kernel({.name = "lines", .workgroup_size = 64, .arguments = kArguments});
  const unsigned line = Loc::current().line() + 1;
  store(kernel.argument<Ptr<Int32, Global>>("out") + lane_id(), lane_id() * kernel.argument<Int32>("layer"));
  codegen::CodegenOptions options;
  options.stages.isa = true;
  const codegen::Build build = codegen::compile(kernel.finish(), kernel.target(), options);
  CHECK_THAT(build.stages.isa, ContainsSubstring(" tests/ir/test_kernel.cpp:" + std::to_string(line)));
}

TEST_CASE("A product and a sum stay two roundings, denormals stay, and division is whole") {
  for (const Target& target : targets()) {
    test::Probe probe(target);
    probe.result(probe.f32() * probe.f32() + probe.f32());
    const codegen::Build build = probe.build();
    CHECK(test::has_instruction(build.stages.isa, "v_mul_f32"));
    CHECK(test::has_instruction(build.stages.isa, "v_add_f32"));
    CHECK_FALSE(test::has_instruction(build.stages.isa, "v_fma_f32"));
    CHECK_FALSE(test::has_instruction(build.stages.isa, "v_fmac_f32"));
  }
  for (const Target& target : targets()) {
    test::Probe probe(target);
    probe.result(probe.f32() / probe.f32());
    const codegen::Build build = probe.build();
    for (const char* step : {"v_div_scale_f32", "v_div_fmas_f32", "v_div_fixup_f32"}) {
      INFO(step);
      CHECK(test::has_instruction(build.stages.isa, step));
    }
    // A mode switch around the division would mean that f32 denormals are off elsewhere.
    CHECK_FALSE(test::has_instruction(build.stages.isa, "s_setreg_imm32_b32"));
  }
}

TEST_CASE("The same program gives the same IR, also with another kernel built at the same time on another thread") {
  const auto emit = [](const Target& target) {
    Kernel kernel({.name = "twin", .target = target, .workgroup_size = kThreads, .arguments = kArguments});
    emit_sample(kernel);
    return test::finished_text(kernel);
  };
  const std::string expected[] = {emit(kTargetGfx942), emit(kTargetGfx950)};
  CHECK(expected[0] != expected[1]);
  constexpr int kRounds = 50;
  std::vector<std::string> texts[2];
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) texts[0].push_back(emit(kTargetGfx942));
  });
  for (int i = 0; i < kRounds; ++i) texts[1].push_back(emit(kTargetGfx950));
  other.join();
  for (int i = 0; i < 2; ++i)
    for (const std::string& text : texts[i]) CHECK(text == expected[i]);
}

TEST_CASE("Kernels nest: the innermost living one is the current one") {
  Kernel outer({.name = "outer", .target = kTargetGfx942, .workgroup_size = 64});
  {
    const Kernel inner({.name = "inner", .target = kTargetGfx950, .workgroup_size = 64});
    CHECK(target().arch == "gfx950");
    CHECK_THROWS_AS(outer.finish(), BuildError);
  }
  CHECK(target().arch == "gfx942");
}

TEST_CASE("A basic block beyond the limit is a warning that names a line") {
  constexpr int kLimit = 100;
  const auto warnings_of = [](int additions) {
    Kernel kernel({.name = "long", .workgroup_size = 64, .arguments = kArguments, .block_warning = kLimit});
    Int32 sum = lane_id();
    for (int i = 0; i < additions; ++i) sum += kernel.argument<Int32>("layer");
    store(kernel.argument<Ptr<Int32, Global>>("out") + lane_id(), sum);
    kernel.finish();
    return kernel.warnings();
  };
  CHECK(warnings_of(kLimit / 2).empty());
  const std::vector<std::string> warnings = warnings_of(kLimit);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], ContainsSubstring("tests/ir/test_kernel.cpp:"));
  CHECK_THAT(warnings[0], ContainsSubstring("more than 100"));
}

}  // namespace
}  // namespace monojit::ir
