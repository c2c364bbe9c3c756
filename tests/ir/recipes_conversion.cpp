#include "tests/ir/recipes.h"

namespace monojit::ir::test {

namespace {

using enum MxFormat;
using Pair = Vec<BFloat16, 2>;
using Sixteen = Vec<Float32, 16>;
using Packed6 = Vec<Int32, 6>;

constexpr Recipe kRecipes[] = {
    {Op::convert_i32_f32, [](Probe& p) { p.result(convert<float>(p.i32())); }},
    {Op::convert_f32_i32, [](Probe& p) { p.result(convert<Int32>(p.f32())); }},
    {Op::extend_bf16_f32, [](Probe& p) { p.result(extend<float>(p.operand<BFloat16>())); }},
    {Op::round_f32_bf16, [](Probe& p) { p.result(round_bf16(p.f32())); }},
    {Op::cvt_pk_fp8_f32, [](Probe& p) { p.result(cvt_pk_fp8<1>(p.f32(), p.f32(), p.i32())); }},
    {Op::cvt_pk_bf8_f32, [](Probe& p) { p.result(cvt_pk_bf8<0>(p.f32(), p.f32(), p.i32())); }},
    {Op::cvt_sr_fp8_f32, [](Probe& p) { p.result(cvt_sr_fp8<2>(p.f32(), p.i32(), p.i32())); }},
    {Op::cvt_sr_bf8_f32, [](Probe& p) { p.result(cvt_sr_bf8<1>(p.f32(), p.i32(), p.i32())); }},
    {Op::cvt_f32_fp8, [](Probe& p) { p.result(cvt_f32_fp8<3>(p.i32())); }},
    {Op::cvt_f32_bf8, [](Probe& p) { p.result(cvt_f32_bf8<1>(p.i32())); }},
    {Op::cvt_pk_f32_fp8, [](Probe& p) { p.result(cvt_pk_f32_fp8<1>(p.i32())); }},
    {Op::cvt_pk_f32_bf8, [](Probe& p) { p.result(cvt_pk_f32_bf8<0>(p.i32())); }},

    {Op::cvt_scalef32_pk_fp8_f32, [](Probe& p) { p.result(mx_pack8<kFp8, 1>(p.f32(), p.f32(), p.f32(), p.i32())); }},
    {Op::cvt_scalef32_pk_bf8_f32, [](Probe& p) { p.result(mx_pack8<kBf8, 0>(p.f32(), p.f32(), p.f32(), p.i32())); }},
    {Op::cvt_scalef32_pk_fp8_bf16, [](Probe& p) { p.result(mx_pack8<kFp8, 0>(p.operand<Pair>(), p.f32(), p.i32())); }},
    {Op::cvt_scalef32_pk_bf8_bf16, [](Probe& p) { p.result(mx_pack8<kBf8, 1>(p.operand<Pair>(), p.f32(), p.i32())); }},
    {Op::cvt_scalef32_f32_fp8, [](Probe& p) { p.result(mx_unpack8<kFp8, 2>(p.i32(), p.f32())); }},
    {Op::cvt_scalef32_f32_bf8, [](Probe& p) { p.result(mx_unpack8<kBf8, 3>(p.i32(), p.f32())); }},
    {Op::cvt_scalef32_pk_f32_fp8, [](Probe& p) { p.result(mx_unpack8_pair<kFp8, 1>(p.i32(), p.f32())); }},
    {Op::cvt_scalef32_pk_f32_bf8, [](Probe& p) { p.result(mx_unpack8_pair<kBf8, 0>(p.i32(), p.f32())); }},
    {Op::cvt_scalef32_pk_bf16_fp8, [](Probe& p) { p.result(mx_unpack8_bf16<kFp8, 1>(p.i32(), 1.0f)); }},
    {Op::cvt_scalef32_pk_bf16_bf8, [](Probe& p) { p.result(mx_unpack8_bf16<kBf8, 0>(p.i32(), p.f32())); }},
    {Op::cvt_scalef32_pk_f32_fp4, [](Probe& p) { p.result(mx_unpack4<3>(p.i32(), p.f32())); }},
    {Op::cvt_scalef32_pk_bf16_fp4, [](Probe& p) { p.result(mx_unpack4_bf16<1>(p.i32(), p.f32())); }},
    {Op::cvt_scalef32_pk_fp4_f32, [](Probe& p) { p.result(mx_pack4<2>(p.f32(), p.f32(), p.f32(), p.i32())); }},
    {Op::cvt_scalef32_pk_fp4_bf16, [](Probe& p) { p.result(mx_pack4<0>(p.operand<Pair>(), p.f32(), p.i32())); }},
    {Op::cvt_scalef32_sr_pk_fp4_f32,
     [](Probe& p) { p.result(mx_pack4_random<1>(p.operand<Vec<Float32, 2>>(), p.i32(), p.f32(), p.i32())); }},
    {Op::cvt_scalef32_2xpk16_fp6_f32,
     [](Probe& p) { p.result(mx_pack6<kFp6>(p.operand<Sixteen>(), p.operand<Sixteen>(), p.f32())); }},
    {Op::cvt_scalef32_2xpk16_bf6_f32,
     [](Probe& p) { p.result(mx_pack6<kBf6>(p.operand<Sixteen>(), p.operand<Sixteen>(), p.f32())); }},
    {Op::cvt_scalef32_pk32_f32_fp6, [](Probe& p) { p.result(mx_unpack6<kFp6>(p.operand<Packed6>(), p.f32())); }},
    {Op::cvt_scalef32_pk32_f32_bf6, [](Probe& p) { p.result(mx_unpack6<kBf6>(p.operand<Packed6>(), p.f32())); }},
    {Op::random_bits, [](Probe& p) { p.result(random_bits(p.i32())); }},
};

}  // namespace

std::span<const Recipe> conversion_recipes() { return kRecipes; }

}  // namespace monojit::ir::test
