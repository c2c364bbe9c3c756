#include "tests/ir/recipes.h"

namespace monojit::ir::test {

namespace {

using F2 = Vec<Float32, 2>;
using Pair = Vec<BFloat16, 2>;

/// An addend that lives on keeps LLVM from the two-address form, which overwrites it.
template <class T, class F>
void keep_addend(Probe& p, F&& operation) {
  const T addend = p.operand<T>();
  p.result(operation(addend));
  p.result(addend);
}

constexpr Recipe kRecipes[] = {
    {Op::add_i32, [](Probe& p) { p.result(p.i32() + p.i32()); }},
    {Op::sub_i32, [](Probe& p) { p.result(p.i32() - p.i32()); }},
    {Op::mul_i32, [](Probe& p) { p.result(p.i32() * p.i32()); }},
    {Op::and_i32, [](Probe& p) { p.result(p.i32() & p.i32()); }},
    {Op::or_i32, [](Probe& p) { p.result(p.i32() | p.i32()); }},
    {Op::xor_i32, [](Probe& p) { p.result(p.i32() ^ p.i32()); }},
    {Op::shl_i32, [](Probe& p) { p.result(p.i32() << (p.i32() & 31)); }},
    {Op::shr_i32, [](Probe& p) { p.result(p.i32() >> (p.i32() & 31)); }},
    {Op::shr_logical_i32, [](Probe& p) { p.result(shr_logical(p.i32(), p.i32() & 31)); }},
    {Op::min_i32, [](Probe& p) { p.result(min(p.i32(), p.i32())); }},
    {Op::max_i32, [](Probe& p) { p.result(max(p.i32(), p.i32())); }},
    {Op::umin_i32, [](Probe& p) { p.result(umin(p.i32(), p.i32())); }},
    {Op::umax_i32, [](Probe& p) { p.result(umax(p.i32(), p.i32())); }},
    {Op::mul_high_i32, [](Probe& p) { p.result(mul_high(p.i32(), p.i32())); }},
    {Op::umul_high_i32, [](Probe& p) { p.result(umul_high(p.i32(), p.i32())); }},
    {Op::bit_count, [](Probe& p) { p.result(bit_count(p.i32())); }},
    {Op::leading_zeros, [](Probe& p) { p.result(leading_zeros(p.i32())); }},
    {Op::trailing_zeros, [](Probe& p) { p.result(trailing_zeros(p.i32())); }},
    {Op::bit_reverse, [](Probe& p) { p.result(bit_reverse(p.i32())); }},
    {Op::bit_field, [](Probe& p) { p.result(bit_field(p.i32(), p.i32(), p.i32())); }},
    {Op::signed_bit_field, [](Probe& p) { p.result(signed_bit_field(p.i32(), p.i32(), p.i32())); }},
    {Op::align_bits, [](Probe& p) { p.result(align_bits(p.i32(), p.i32(), p.i32())); }},
    {Op::byte_permute, [](Probe& p) { p.result(byte_permute(p.i32(), p.i32(), p.i32())); }},
    {Op::bitop3, [](Probe& p) { p.result(bitop3(p.i32(), p.i32(), p.i32(), 0xE8)); }},
    {Op::dot4_i8, [](Probe& p) { p.result(dot4(p.i32(), p.i32(), p.i32())); }},

    {Op::add_f32, [](Probe& p) { p.result(p.f32() + p.f32()); }},
    {Op::sub_f32, [](Probe& p) { p.result(p.f32() - p.f32()); }},
    {Op::mul_f32, [](Probe& p) { p.result(p.f32() * p.f32()); }},
    {Op::pk_add_f32, [](Probe& p) { p.result(p.operand<F2>() + p.operand<F2>()); }},
    {Op::pk_mul_f32, [](Probe& p) { p.result(p.operand<F2>() * p.operand<F2>()); }},
    {Op::pk_fma_f32, [](Probe& p) { p.result(fma(p.operand<F2>(), p.operand<F2>(), p.operand<F2>())); }},
    {Op::div_f32, [](Probe& p) { p.result(p.f32() / p.f32()); }},
    {Op::fma_f32, [](Probe& p) { keep_addend<Float32>(p, [&](auto c) { return fma(p.f32(), p.f32(), c); }); }},
    {Op::fma_f64,
     [](Probe& p) {
       keep_addend<Float64>(p, [&](auto c) { return fma(p.operand<Float64>(), p.operand<Float64>(), c); });
     }},
    {Op::rcp, [](Probe& p) { p.result(rcp(p.f32())); }},
    {Op::rsq, [](Probe& p) { p.result(rsq(p.f32())); }},
    {Op::sqrt, [](Probe& p) { p.result(sqrt(p.f32())); }},
    {Op::exp2, [](Probe& p) { p.result(exp2(p.f32())); }},
    {Op::log2, [](Probe& p) { p.result(log2(p.f32())); }},
    {Op::max_f32, [](Probe& p) { p.result(max(p.f32(), p.f32())); }},
    {Op::min_f32, [](Probe& p) { p.result(min(p.f32(), p.f32())); }},
    {Op::maxnum_f32, [](Probe& p) { p.result(maxnum(p.f32(), p.f32())); }},
    {Op::minnum_f32, [](Probe& p) { p.result(minnum(p.f32(), p.f32())); }},
    {Op::med3, [](Probe& p) { p.result(med3(p.f32(), p.f32(), p.f32())); }},
    {Op::floor, [](Probe& p) { p.result(floor(p.f32())); }},
    {Op::ceil, [](Probe& p) { p.result(ceil(p.f32())); }},
    {Op::trunc, [](Probe& p) { p.result(trunc(p.f32())); }},
    {Op::round_even, [](Probe& p) { p.result(round_even(p.f32())); }},
    {Op::abs_f32, [](Probe& p) { p.result(abs(p.f32())); }},
    {Op::copysign_f32, [](Probe& p) { p.result(copysign(p.f32(), p.f32())); }},
    {Op::ldexp_f32, [](Probe& p) { p.result(ldexp(p.f32(), p.i32())); }},
    {Op::frexp_exponent, [](Probe& p) { p.result(frexp_exponent(p.f32())); }},
    {Op::dot2_bf16, [](Probe& p) { p.result(dot2(p.operand<Pair>(), p.operand<Pair>(), p.f32())); }},
};

}  // namespace

std::span<const Recipe> arithmetic_recipes() { return kRecipes; }

}  // namespace monojit::ir::test
