#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <catch2/catch_test_macros.hpp>

#include "ir/dsl.h"

using namespace monojit::ir;  // NOLINT(google-build-using-namespace): the DSL is meant to be read unqualified

namespace {
constexpr ArgumentSpec kArguments[] = {
    {.name = "ar", .alignment = 16, .written = false},
    {.name = "out", .alignment = 16},
    {.name = "layer", .type = ArgumentType::kInt32},
};

Float32 row_rstd(Ptr<BFloat16, Global> row, int hidden, float eps) {
  Float32 sum_sq = 0.0f;
  for (int i = 0; i < hidden / 64; i += 8)
    for (Float32 v : extend<float>(load<8>(row + lane_id() * 8 + i * 64))) sum_sq = fma(v, v, sum_sq);
  return rsq(wave_sum(sum_sq) / float(hidden) + eps);
}
}  // namespace

TEST_CASE("A kernel with all of the core verifies") {
  Kernel kernel({.name = "trial", .target = kTargetGfx950, .workgroup_size = 512, .min_waves_per_eu = 2, .arguments = kArguments});
  Uniform<Ptr<BFloat16, Global>> ar = kernel.argument<Ptr<BFloat16, Global>>("ar");
  Uniform<Ptr<Float32, Global>> out = kernel.argument<Ptr<Float32, Global>>("out");
  Uniform<Int32> layer = kernel.argument<Int32>("layer");
  LdsLayout lds;
  auto x8 = lds.array<UInt8>("x8", 6144);
  auto red = lds.array<Float32>("red", 2048);

  const Float32 r = row_rstd(ar + workgroup_id() * 6144, 6144, 1e-6f);
  Var<Float32> acc(0.0f);
  Var<Int32> n(0);
  For(0, layer + 1, [&](Uniform<Int32> i) {
    acc = fma(acc, 2.0f, convert<float>(i));
    n += 1;
  });
  If(lane_id() < 32, [&] { acc = acc + 1.0f; })
      .ElseIf(layer == 5, [&] { acc = acc * 3.0f; })
      .Else([&] { acc = select(layer > 3, r, 0.0f); });
  BufferResource in(ar);
  Vec<Int32, 4> v = load<Vec<Int32, 4>>(in, lane_id() * 16, {.scalar_offset = layer * 64, .offset = 32, .policy = CachePolicy::kDevice});
  store(red + thread_id(), acc.value());
  barrier();
  store(x8 + thread_id() * 4, bitcast<Vec<UInt8, 4>>(pack_fp8(acc, 1.0f, r, acc)));
  DoWhile([&] {
    v = load<Vec<Int32, 4>>(in, lane_id() * 16, {.policy = CachePolicy::kDevice, .repeat = true});
    s_sleep(1);
    return v[1] != layer;
  });
  Vec<Float32, 4> d = 0.0f;
  d = mfma_f32_16x16x32_fp8(bitcast<Int64>(v.low()), bitcast<Int64>(v.high()), d);
  store(out + thread_id() * 4, d + bitcast<Float32>(v[0]));
  store(out + n, load(red + (thread_id() ^ 1)));
  auto module = kernel.finish();
  std::string text;
  llvm::raw_string_ostream stream(text);
  const bool broken = llvm::verifyModule(*module, &stream);
  INFO(text);
  CHECK_FALSE(broken);
  if (getenv("SHOW")) module->print(llvm::errs(), nullptr);
}
