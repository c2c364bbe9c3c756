#include "tests/codegen/sample_kernels.h"

#include <stdexcept>

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace monojit::codegen::test {
namespace {

constexpr const char* kHeader = R"(
target triple = "amdgcn-amd-amdhsa"
target datalayout = "{}"
declare i32 @llvm.amdgcn.workitem.id.x()
{}
)";

constexpr const char* kAttributes = R"(
attributes #0 = {
  nounwind "amdgpu-flat-work-group-size"="256,256" "amdgpu-waves-per-eu"="2" "uniform-work-group-size"="true"
  "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-implicitarg-ptr"
  "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z"
  "amdgpu-no-multigrid-sync-arg" "amdgpu-no-hostcall-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-default-queue"
  "amdgpu-no-completion-action" "amdgpu-no-lds-kernel-id" "amdgpu-no-flat-scratch-init"
}
)";

constexpr const char* kDataLayout =
    "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-"
    "p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-"
    "n32:64-S32-A5-G1-ni:7:8:9";

std::string step(int stage, int index) {
  std::string text = fmt::format(R"(
  %p{0}_{1} = getelementptr i8, ptr addrspace(1) %base{0}, i64 {2}
  %a{0}_{1} = load <8 x bfloat>, ptr addrspace(1) %p{0}_{1}, align 16
  %q{0}_{1} = getelementptr i8, ptr addrspace(1) %p{0}_{1}, i64 65536
  %b{0}_{1} = load <8 x bfloat>, ptr addrspace(1) %q{0}_{1}, align 16
  %c{0}_{1} = load <4 x float>, ptr addrspace(5) %acc{0}, align 16
  %m{0}_{1} = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.bf16(<8 x bfloat> %a{0}_{1}, <8 x bfloat> %b{0}_{1}, <4 x float> %c{0}_{1}, i32 0, i32 0, i32 0)
  store <4 x float> %m{0}_{1}, ptr addrspace(5) %acc{0}, align 16
)",
                                 stage, index, index * 16);
  for (int lane = 0; lane < 8; ++lane) {
    text += fmt::format(R"(
  %e{0}_{1}_{2} = extractelement <8 x bfloat> %a{0}_{1}, i32 {2}
  %x{0}_{1}_{2} = fpext bfloat %e{0}_{1}_{2} to float
  %s{0}_{1}_{2} = load float, ptr addrspace(5) %sum{0}, align 4
  %f{0}_{1}_{2} = call float @llvm.fma.f32(float %x{0}_{1}_{2}, float %x{0}_{1}_{2}, float %s{0}_{1}_{2})
  store float %f{0}_{1}_{2}, ptr addrspace(5) %sum{0}, align 4
)",
                        stage, index, lane);
  }
  return text;
}

std::string loop(int stage, int unroll) {
  std::string steps;
  for (int i = 0; i < unroll; ++i) steps += step(stage, i);
  return fmt::format(R"(
  store <4 x float> zeroinitializer, ptr addrspace(5) %acc{0}, align 16
  store float 0.0, ptr addrspace(5) %sum{0}, align 4
  br label %head{0}
head{0}:
  %i{0} = phi i32 [ 0, %{1} ], [ %next{0}, %head{0} ]
  %row{0} = mul i32 %i{0}, 4096
  %col{0} = mul i32 %tid, 16
  %off{0} = add i32 %row{0}, %col{0}
  %wide{0} = zext i32 %off{0} to i64
  %base{0} = getelementptr i8, ptr addrspace(1) %weights, i64 %wide{0}
  {2}
  %next{0} = add i32 %i{0}, 1
  %more{0} = icmp slt i32 %next{0}, %count
  br i1 %more{0}, label %head{0}, label %done{0}
)",
                     stage, stage == 0 ? "entry" : fmt::format("join{}", stage - 1), steps);
}

std::string tail(int stage) {
  std::string text = fmt::format(R"(
done{0}:
  %v{0} = load <4 x float>, ptr addrspace(5) %acc{0}, align 16
  %slot{0} = getelementptr <4 x float>, ptr addrspace(3) @shared, i32 %tid
  store <4 x float> %v{0}, ptr addrspace(3) %slot{0}, align 16
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %other{0} = xor i32 %tid, 64
  %read{0} = getelementptr <4 x float>, ptr addrspace(3) @shared, i32 %other{0}
  %w{0} = load <4 x float>, ptr addrspace(3) %read{0}, align 16
  %t{0} = fadd <4 x float> %v{0}, %w{0}
  %r{0}_0 = load float, ptr addrspace(5) %sum{0}, align 4
)",
                                 stage);
  for (int i = 0; i < 6; ++i) {
    text += fmt::format(R"(
  %peer{0}_{1} = xor i32 %tid, {2}
  %byte{0}_{1} = shl i32 %peer{0}_{1}, 2
  %bits{0}_{1} = bitcast float %r{0}_{1} to i32
  %got{0}_{1} = call i32 @llvm.amdgcn.ds.bpermute(i32 %byte{0}_{1}, i32 %bits{0}_{1})
  %part{0}_{1} = bitcast i32 %got{0}_{1} to float
  %r{0}_{3} = fadd float %r{0}_{1}, %part{0}_{1}
)",
                        stage, i, 1 << i, i + 1);
  }
  return text + fmt::format(R"(
  %scale{0} = insertelement <4 x float> poison, float %r{0}_6, i32 0
  %splat{0} = shufflevector <4 x float> %scale{0}, <4 x float> poison, <4 x i32> zeroinitializer
  %y{0} = fmul <4 x float> %t{0}, %splat{0}
  %low{0} = icmp slt i32 %tid, 16
  br i1 %low{0}, label %then{0}, label %join{0}
then{0}:
  %at{0} = add i32 %tid, {1}
  %index{0} = zext i32 %at{0} to i64
  %to{0} = getelementptr <4 x float>, ptr addrspace(1) %out, i64 %index{0}
  store <4 x float> %y{0}, ptr addrspace(1) %to{0}, align 16
  br label %join{0}
join{0}:
)",
                            stage, stage * 16);
}

/// Appends a debug line of its own to every instruction of `body` and the records that the lines refer to.
std::string with_debug_lines(const std::string& body, const std::string& rest, std::string& metadata) {
  std::string text;
  metadata = R"(
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "study", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "study.cpp", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = distinct !DISubprogram(name: "study", scope: !1, file: !1, line: 1, type: !5, scopeLine: 1, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{}
)";
  constexpr int kFirstLine = 10;
  int number = kFirstLine;
  std::size_t start = 0;
  while (start < body.size()) {
    std::size_t end = body.find('\n', start);
    if (end == std::string::npos) end = body.size();
    std::string line = body.substr(start, end - start);
    start = end + 1;
    if (line.starts_with("  ") && line.find_first_not_of(' ') != std::string::npos) {
      metadata += fmt::format("!{0} = !DILocation(line: {0}, column: 0, scope: !4)\n", number);
      line += fmt::format(", !dbg !{}", number++);
    }
    text += line + "\n";
  }
  return text + rest;
}

}  // namespace

ParsedModule::ParsedModule(const std::string& assembly) : context(std::make_unique<llvm::LLVMContext>()) {
  llvm::SMDiagnostic diagnostic;
  module = llvm::parseAssemblyString(assembly, diagnostic, *context);
  if (module) return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  diagnostic.print("sample", stream, false);
  throw std::runtime_error(text);
}

std::string kernel_assembly(const std::string& symbol, const std::string& parameters, const std::string& body,
                            const std::string& declarations) {
  return fmt::format(kHeader, kDataLayout, declarations) +
         fmt::format("define amdgpu_kernel void @{}({}) #0 {{\nentry:\n{}}}\n", symbol, parameters, body) + kAttributes;
}

std::string study_assembly(int stages, int unroll) {
  std::string body = "  %tid = call i32 @llvm.amdgcn.workitem.id.x()\n";
  for (int stage = 0; stage < stages; ++stage) {
    body += fmt::format(
        "  %acc{0} = alloca <4 x float>, align 16, addrspace(5)\n  %sum{0} = alloca float, align 4, addrspace(5)\n",
        stage);
  }
  for (int stage = 0; stage < stages; ++stage) body += loop(stage, unroll) + tail(stage);
  body += "  ret void\n";
  std::string metadata;
  body = with_debug_lines(body, "", metadata);
  std::string text =
      kernel_assembly("study", "ptr addrspace(1) noalias %weights, ptr addrspace(1) noalias %out, i32 %count", body,
                      "@shared = internal addrspace(3) global [4096 x i8] poison, align 16\n"
                      "declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.bf16(<8 x bfloat>, <8 x bfloat>, <4 x "
                      "float>, i32, i32, i32)\n"
                      "declare float @llvm.fma.f32(float, float, float)\n"
                      "declare void @llvm.amdgcn.s.barrier()\n"
                      "declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)\n");
  text.replace(text.find("#0 {"), 4, "#0 !dbg !4 {");
  return text + metadata;
}

}  // namespace monojit::codegen::test
