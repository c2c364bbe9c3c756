#include "tests/ir/recipes.h"

namespace monojit::ir::test {

namespace {

using enum MxFormat;
using F4 = Vec<Float32, 4>;
using F16 = Vec<Float32, 16>;
using B4 = Vec<BFloat16, 4>;
using B8 = Vec<BFloat16, 8>;

constexpr Recipe kRecipes[] = {
    {Op::readfirstlane, [](Probe& p) { p.result(uniform(p.f32())); }},
    {Op::readlane, [](Probe& p) { p.result(readlane(p.i32(), p.scalar())); }},
    {Op::writelane, [](Probe& p) { p.result(writelane(p.i32(), p.scalar(), 5)); }},
    {Op::ds_bpermute, [](Probe& p) { p.result(shuffle(p.f32(), p.i32())); }},
    {Op::ds_permute, [](Probe& p) { p.result(ds_permute(p.i32(), p.i32())); }},
    {Op::dpp, [](Probe& p) { p.result(dpp(DppControl::row_shr(8), p.i32(), p.i32(), {.banks = 0xC})); }},
    {Op::permlane16_swap, [](Probe& p) { p.result(permlane16_swap(p.i32(), p.i32()).second); }},
    {Op::permlane32_swap, [](Probe& p) { p.result(permlane32_swap(p.f32(), p.f32()).first); }},
    {Op::ballot, [](Probe& p) { p.result(ballot(p.i32() > 4)); }},
    {Op::mbcnt_lo, [](Probe& p) { p.result(mbcnt(ballot(p.i32() > 4))); }},
    {Op::mbcnt_hi, [](Probe& p) { p.result(mbcnt(ballot(p.i32() > 4), p.i32())); }},

    {Op::mfma_f32_16x16x32_fp8_fp8,
     [](Probe& p) { p.result(mfma_f32_16x16x32_fp8(p.operand<Int64>(), p.operand<Int64>(), p.operand<F4>())); }},
    {Op::mfma_f32_32x32x16_fp8_fp8,
     [](Probe& p) { p.result(mfma_f32_32x32x16_fp8(p.operand<Int64>(), p.operand<Int64>(), p.operand<F16>())); }},
    {Op::mfma_f32_16x16x16_bf16,
     [](Probe& p) { p.result(mfma_f32_16x16x16_bf16(p.operand<B4>(), p.operand<B4>(), p.operand<F4>())); }},
    {Op::mfma_f32_32x32x8_bf16,
     [](Probe& p) { p.result(mfma_f32_32x32x8_bf16(p.operand<B4>(), p.operand<B4>(), p.operand<F16>())); }},
    {Op::mfma_f32_16x16x32_bf16,
     [](Probe& p) { p.result(mfma_f32_16x16x32_bf16(p.operand<B8>(), p.operand<B8>(), p.operand<F4>())); }},
    {Op::mfma_f32_32x32x16_bf16,
     [](Probe& p) { p.result(mfma_f32_32x32x16_bf16(p.operand<B8>(), p.operand<B8>(), p.operand<F16>())); }},
    {Op::mfma_scale_f32_16x16x128_f8f6f4,
     [](Probe& p) {
       p.result(mfma_scale_f32_16x16x128<kFp4, kFp8>(p.operand<MxOperand<kFp4>>(), p.operand<MxOperand<kFp8>>(),
                                                     p.operand<F4>(), MxScale<0>{p.i32()}, MxScale<3>{p.i32()}));
     }},
    {Op::mfma_scale_f32_32x32x64_f8f6f4,
     [](Probe& p) {
       p.result(mfma_scale_f32_32x32x64<kBf8, kFp6>(p.operand<MxOperand<kBf8>>(), p.operand<MxOperand<kFp6>>(),
                                                    p.operand<F16>(), MxScale<2>{p.i32()}, MxScale<1>{p.i32()}));
     }},

    {Op::s_barrier, [](Probe&) { barrier(); }},
    {Op::s_waitcnt, [](Probe&) { wait_vmcnt(0); }},
    {Op::s_sleep, [](Probe&) { s_sleep(1); }},
    {Op::s_setprio, [](Probe&) { s_setprio(2); }},
    {Op::s_memrealtime, [](Probe& p) { p.result(s_memrealtime()); }},
    {Op::s_memtime, [](Probe& p) { p.result(s_memtime()); }},
    {Op::sched_barrier, [](Probe&) { sched_barrier(kSchedAlu); }},
    {Op::sched_group_barrier, [](Probe&) { sched_group_barrier(kSchedVmemRead, 2, 0); }},
    {Op::wave_barrier, [](Probe&) { wave_barrier(); }},
    {Op::fence_release_device, [](Probe&) { fence(Scope::kDevice, Order::kRelease); }},
    {Op::fence_acquire_device, [](Probe&) { fence(Scope::kDevice, Order::kAcquire); }},
    {Op::fence_release_system, [](Probe&) { fence(Scope::kSystem, Order::kRelease); }},
    {Op::fence_acquire_system, [](Probe&) { fence(Scope::kSystem, Order::kAcquire); }},
};

}  // namespace

std::span<const Recipe> wave_recipes() { return kRecipes; }

}  // namespace monojit::ir::test
