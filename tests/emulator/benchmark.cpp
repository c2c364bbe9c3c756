// How fast the emulator executes instruction classes: one wave or one workgroup in a loop, wave-instructions a second.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint32_t kRounds = 2000;
constexpr int kUnroll = 16;

/// `body` kUnroll times in a loop of kRounds; v[2:9] small numbers, v1 the lane's byte offset (4 a lane) into s[4:5].
std::string looped(const std::string& prologue, const std::string& body) {
  std::string text = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v30, 4, v0
  v_add_u32 v2, 1, v0
  v_cvt_f32_u32 v3, v2
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 0.5
  v_mov_b32 v6, v3
  v_mov_b32 v7, v4
  v_mov_b32 v8, 3
  v_mov_b32 v9, 5
  s_waitcnt lgkmcnt(0)
)" + prologue + fmt::format("\n  s_movk_i32 s20, {}\nloop:\n", kRounds);
  for (int i = 0; i < kUnroll; ++i) text += body + "\n";
  return text + "  s_sub_u32 s20, s20, 1\n  s_cmp_lg_u32 s20, 0\n  s_cbranch_scc1 loop\n";
}

void run(benchmark::State& state, const std::string& prologue, const std::string& body, CountClass counted,
         double bytes_each = 0, MemoryMode memory_mode = MemoryMode::kCoherent) {
  Settings settings;
  settings.memory = memory_mode;
  Device device(settings);
  const auto memory = device.allocate<std::uint8_t>(1 << 20);
  const auto object = assemble({.body = looped(prologue, body), .agprs = 8, .lds_bytes = 32768, .arguments = 2});
  const Kernel& kernel = device.load(object, "kernel");
  for (const std::string& problem : kernel.program->problems) return state.SkipWithError(problem);
  double count = 0;
  for (auto _ : state) {
    const LaunchReport report = device.launch(kernel, {}, {memory.address(), memory.address() + (1 << 19)});
    count += static_cast<double>(report.counts[static_cast<u32>(counted)]);
  }
  state.counters["per_second"] = benchmark::Counter(count, benchmark::Counter::kIsRate);
  if (bytes_each > 0)
    state.counters["bytes_per_second"] = benchmark::Counter(count * bytes_each, benchmark::Counter::kIsRate);
}

// What address arithmetic, dequantisation and reductions are made of.
const char* const kMix = R"(
  v_lshl_add_u32 v10, v2, 2, v8
  v_and_b32 v11, 0xff, v10
  v_cvt_f32_ubyte0 v12, v11
  v_fma_f32 v13, v12, v4, v5
  v_mul_f32 v14, v13, v3
  v_max_f32_e64 v14, |v14|, v4
  v_pk_fma_f32 v[16:17], v[4:5], v[6:7], v[4:5]
  v_cmp_gt_f32 vcc, v14, v5
  v_cndmask_b32 v15, v13, v14, vcc
  v_add_u32 v10, s20, v10
  v_perm_b32 v18, v10, v11, s6
  v_bfe_u32 v19, v10, 8, 8
  v_add_co_u32 v20, vcc, v10, v11
  v_addc_co_u32 v21, vcc, 0, v11, vcc
  v_add_f32_dpp v15, v15, v15 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
  v_cvt_pk_bf16_f32 v22, v13, v14
)";

void register_all() {
  const auto add = [](const char* name, const std::string& prologue, const std::string& body, CountClass counted,
                      double bytes = 0) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
      run(state, prologue, body, counted, bytes);
    })->Unit(benchmark::kMillisecond);
  };
  add("valu_mix", "", kMix, CountClass::kVector);
  add("valu_mix_half_exec", "s_mov_b32 exec_lo, 0x55555555\n s_mov_b32 exec_hi, 0x55555555", kMix, CountClass::kVector);
  add("v_add_u32", "", "v_add_u32 v10, v2, v8\n v_add_u32 v11, v3, v9", CountClass::kVector);
  add("v_fma_f32", "", "v_fma_f32 v10, v3, v4, v5\n v_fma_f32 v11, v4, v5, v6", CountClass::kVector);
  add("v_exp_f32", "", "v_exp_f32 v10, v5", CountClass::kVector);
  add("v_cvt_pk_fp8_f32", "", "v_cvt_pk_fp8_f32 v10, v3, v4", CountClass::kVector);
  add("salu", "",
      "s_add_u32 s8, s9, s10\n s_addc_u32 s9, s10, s11\n s_lshl_b32 s11, s8, 3\n s_and_b64 s[12:13], s[8:9], exec",
      CountClass::kScalar);
  add("v_readlane_b32", "", "v_readlane_b32 s8, v2, 5", CountClass::kVector);
  add("v_add_f32_dpp", "", "v_add_f32_dpp v10, v3, v4 row_shr:4 row_mask:0xf bank_mask:0xa", CountClass::kVector);
  add("ds_bpermute_b32", "", "ds_bpermute_b32 v10, v1, v2", CountClass::kLds);
  add("ds_read_b32", "", "ds_read_b32 v10, v1", CountClass::kLds, 256);
  add("ds_read_b64", "v_lshlrev_b32 v1, 3, v0", "ds_read_b64 v[10:11], v1", CountClass::kLds, 512);
  add("ds_read_b128", "", "ds_read_b128 v[10:13], v30", CountClass::kLds, 1024);
  add("ds_write_b32", "", "ds_write_b32 v1, v2", CountClass::kLds, 256);
  add("ds_write_b128", "", "ds_write_b128 v30, v[2:5]", CountClass::kLds, 1024);
  add("global_load_dword", "", "global_load_dword v10, v1, s[4:5]", CountClass::kVectorMemory, 256);
  add("global_load_dword_scattered", "v_mul_u32_u24 v1, 100, v0", "global_load_dword v10, v1, s[4:5]",
      CountClass::kVectorMemory, 256);
  add("global_load_dwordx4", "", "global_load_dwordx4 v[10:13], v30, s[4:5]", CountClass::kVectorMemory, 1024);
  add("global_store_dwordx4", "", "global_store_dwordx4 v30, v[2:5], s[4:5]", CountClass::kVectorMemory, 1024);
  const auto add_weak = [](const char* name, const std::string& body) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
      // A store first: loads of memory that nobody has written skip the caches.
      run(state, "global_store_dwordx4 v30, v[2:5], s[4:5]", body, CountClass::kVectorMemory, 1024, MemoryMode::kWeak);
    })->Unit(benchmark::kMillisecond);
  };
  add_weak("weak_global_load_dwordx4", "global_load_dwordx4 v[10:13], v30, s[4:5]\n s_waitcnt vmcnt(0)");
  add_weak("weak_global_store_dwordx4", "global_store_dwordx4 v30, v[2:5], s[4:5]\n s_waitcnt vmcnt(0)");
  add("mfma_f32_16x16x32_bf16", "", "v_mfma_f32_16x16x32_bf16 v[10:13], v[2:5], v[6:9], v[10:13]", CountClass::kMatrix);
  add("mfma_f32_16x16x32_fp8", "", "v_mfma_f32_16x16x32_fp8_fp8 v[10:13], v[2:3], v[6:7], v[10:13]",
      CountClass::kMatrix);
}

}  // namespace
}  // namespace monojit::emulator::test

int main(int argc, char** argv) {
  monojit::emulator::test::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
