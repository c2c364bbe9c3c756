#include <concepts>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>

#include "ir/dsl.h"

// What must and must not compile: each line is a static_assert, the test case below only names them.

namespace monojit::ir {
namespace {

template <class A, class B>
concept CanAdd = requires(A a, B b) { a + b; };
template <class A, class B>
concept CanAddTo = requires(A a, B b) { a += b; };
template <class A, class B>
concept CanDivide = requires(A a, B b) { a / b; };
template <class A, class B>
concept CanAnd = requires(A a, B b) { a & b; };
template <class A, class B>
concept CanCompare = requires(A a, B b) { a < b; };
template <class A, class B>
concept CanSelect = requires(Bool c, A a, B b) { select(c, a, b); };
template <class P, class V>
concept CanStore = requires(P p, V v) { store(p, v); };
template <class P>
concept CanMakeBuffer = requires(P p) { BufferResource(p); };
template <class Condition>
concept CanBranch = requires(Condition c) { If(c, [] {}); };
template <class A, class B>
using Sum = decltype(std::declval<A>() + std::declval<B>());

using F4 = Vec<Float32, 4>;
using GlobalFloats = Ptr<Float32, Global>;

// Widths and kinds never mix.
static_assert(CanAdd<Int32, Int32> && CanAdd<Float32, Float32> && CanAdd<Int64, Int64> && CanAdd<F4, F4>);
static_assert(!CanAdd<Int32, Int64> && !CanAdd<Int64, Int32> && !CanAdd<Int32, Int16> && !CanAdd<Int32, Int8>);
static_assert(!CanAdd<Float32, Float64> && !CanAdd<Float32, Int32> && !CanAdd<Int32, Float32>);
static_assert(!CanAdd<Bool, Int32> && !CanAdd<Bool, Bool>);
static_assert(!CanAdd<F4, Vec<Float32, 2>> && !CanAdd<F4, Vec<Int32, 4>>);
static_assert(!CanCompare<Int32, Int64> && !CanCompare<Float32, Int32>);
static_assert(!std::convertible_to<Int32, Int64> && !std::convertible_to<Int32, Float32> &&
              !std::convertible_to<Int32, Bool>);
static_assert(!CanSelect<Int32, Int64> && !CanSelect<Int32, Float32>);

// bf16 and bytes are for storage: every rounding of an arithmetic on them would have to be written down.
static_assert(!CanAdd<BFloat16, BFloat16> && !CanDivide<BFloat16, BFloat16> && !CanAdd<UInt8, UInt8>);
static_assert(!CanAnd<Float32, Float32>);

// A literal takes the other operand's type, on either side, if it can.
static_assert(std::same_as<Sum<Int32, int>, Int32> && std::same_as<Sum<int, Int32>, Int32>);
static_assert(std::same_as<Sum<Int64, int>, Int64> && std::same_as<Sum<std::int64_t, Int64>, Int64>);
static_assert(std::same_as<Sum<Float32, int>, Float32> && std::same_as<Sum<double, Float32>, Float32>);
static_assert(std::same_as<Sum<F4, float>, F4> && std::same_as<Sum<F4, Float32>, F4> &&
              std::same_as<Sum<Float32, F4>, F4>);
static_assert(!CanAdd<Int32, float> && !CanAdd<double, Int64> && !CanAdd<Int32, bool>);
static_assert(!std::convertible_to<int, Bool> && std::convertible_to<bool, Bool>);

// Uniform values stay uniform among themselves, become per-lane ones with others, and never the reverse.
static_assert(std::same_as<Sum<Uniform<Int32>, Uniform<Int32>>, Uniform<Int32>>);
static_assert(std::same_as<Sum<Uniform<Int32>, int>, Uniform<Int32>> &&
              std::same_as<Sum<int, Uniform<Int32>>, Uniform<Int32>>);
static_assert(std::same_as<Sum<Uniform<Int32>, Int32>, Int32> && std::same_as<Sum<Int32, Uniform<Int32>>, Int32>);
static_assert(std::same_as<Sum<Uniform<Float32>, Var<Float32>>, Float32>);
static_assert(std::convertible_to<Uniform<Int32>, Int32> && !std::convertible_to<Int32, Uniform<Int32>>);
static_assert(!std::convertible_to<Var<Int32>, Uniform<Int32>>);
static_assert(CanAddTo<Uniform<Int32>&, Uniform<Int32>> && CanAddTo<Uniform<Int32>&, int> &&
              CanAddTo<Int32&, Uniform<Int32>>);
static_assert(!CanAddTo<Uniform<Int32>&, Int32>);
static_assert(std::same_as<decltype(std::declval<Uniform<Int32>>() < 3), Uniform<Bool>>);
static_assert(std::same_as<decltype(std::declval<Uniform<Int32>>() < std::declval<Int32>()), Bool>);
static_assert(std::same_as<decltype(!std::declval<Uniform<Bool>>()), Uniform<Bool>> &&
              std::same_as<decltype(!std::declval<Bool>()), Bool>);
static_assert(std::same_as<decltype(-std::declval<Uniform<Float32>>()), Uniform<Float32>> &&
              std::same_as<decltype(-std::declval<Uniform<Int32>>()), Uniform<Int32>> &&
              std::same_as<decltype(~std::declval<Uniform<Int32>>()), Uniform<Int32>> &&
              std::same_as<decltype(-std::declval<Var<Int32>>()), Int32>);
static_assert(std::same_as<decltype(std::declval<F4>() < std::declval<F4>()), Vec<Bool, 4>>);
static_assert(std::same_as<decltype(select(std::declval<Bool>(), std::declval<Uniform<Int32>>(), 0)), Int32>);
static_assert(
    std::same_as<decltype(select(std::declval<Uniform<Bool>>(), std::declval<Uniform<Int32>>(), 0)), Uniform<Int32>>);
static_assert(std::same_as<decltype(min(std::declval<Uniform<Int32>>(), 3)), Uniform<Int32>>);
static_assert(std::same_as<decltype(convert<float>(std::declval<Uniform<Int32>>())), Uniform<Float32>>);

// Pointers: arithmetic with 32- and 64-bit counts, the right element type, and descriptors from uniform ones alone.
static_assert(CanAdd<GlobalFloats, Int32> && CanAdd<GlobalFloats, Int64> && CanAdd<GlobalFloats, int>);
static_assert(!CanAdd<GlobalFloats, Float32> && !CanAdd<GlobalFloats, GlobalFloats>);
static_assert(std::same_as<Sum<Uniform<GlobalFloats>, Uniform<Int32>>, Uniform<GlobalFloats>>);
static_assert(std::same_as<Sum<Uniform<GlobalFloats>, int>, Uniform<GlobalFloats>>);
static_assert(std::same_as<Sum<Uniform<GlobalFloats>, Int32>, GlobalFloats>);
static_assert(CanStore<GlobalFloats, Float32> && CanStore<GlobalFloats, F4> && CanStore<GlobalFloats, float>);
static_assert(!CanStore<GlobalFloats, Int32> && !CanStore<GlobalFloats, Vec<Int32, 4>>);
static_assert(CanMakeBuffer<Uniform<GlobalFloats>> && !CanMakeBuffer<GlobalFloats> &&
              !CanMakeBuffer<Uniform<Ptr<Float32, Local>>>);

// A matrix operation takes operands of its shape alone.
template <class A, class B, class C>
concept CanMultiplyFp8 = requires(A a, B b, C c) { mfma_f32_16x16x32_fp8(a, b, c); };
template <class A, class C>
concept CanMultiplyBf16 = requires(A a, C c) { mfma_f32_16x16x32_bf16(a, a, c); };
static_assert(CanMultiplyFp8<Int64, Int64, F4> && !CanMultiplyFp8<Int32, Int64, F4>);
static_assert(!CanMultiplyFp8<Int64, Int64, Vec<Float32, 16>> && !CanMultiplyFp8<Vec<Int32, 2>, Int64, F4>);
static_assert(CanMultiplyBf16<Vec<BFloat16, 8>, F4> && !CanMultiplyBf16<Vec<BFloat16, 4>, F4>);
static_assert(std::same_as<MxOperand<MxFormat::kFp4>, Vec<Int32, 4>> &&
              std::same_as<MxOperand<MxFormat::kBf6>, Vec<Int32, 6>>);

// Conditions are Bool; a number is none.
static_assert(CanBranch<Bool> && CanBranch<Uniform<Bool>> && !CanBranch<Int32> && !CanBranch<int>);

TEST_CASE("Values of different widths, kinds or uniformity do not mix unless the code says how") {
  SUCCEED("the assertions above hold, or this file would not have compiled");
}

}  // namespace
}  // namespace monojit::ir
