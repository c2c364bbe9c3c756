#include "kernels/common/reference/comparing.h"

#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/reference/bfloat16.h"
#include "kernels/common/reference/tensors.h"

namespace monojit::kernels::reference {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("a bound tracker accepts what lies between the rounded ends") {
  BoundTracker tracker;
  tracker.add_rounded(1.0, 1.001, 0.001, round_bf16);  // 1.0 and 1.0078125 are the neighbours of 1.001
  CHECK(tracker.within());
  tracker.add_rounded(1.0078125, 1.001, 0.001, round_bf16);
  CHECK_FALSE(tracker.within());
}

TEST_CASE("a bound tracker keeps the element that uses up most of its bound") {
  BoundTracker tracker;
  tracker.add(1010, 1000, 900, 1100);
  CHECK(tracker.error() == 10);
  CHECK(tracker.bound() == 100);
  tracker.add(0.75, 0, -1, 1);
  CHECK(tracker.error() == 0.75);
  CHECK(tracker.bound() == 1);
  tracker.add(1020, 1000, 900, 1100);
  CHECK(tracker.error() == 0.75);
}

TEST_CASE("a NaN is right only where the reference has one") {
  BoundTracker both;
  both.add(kNan, kNan, kNan, kNan);
  CHECK(both.within());
  BoundTracker overflowing;
  overflowing.add(kNan, 463, 448, kNan);
  CHECK(overflowing.within());
  BoundTracker unexpected;
  unexpected.add(kNan, 1, 0, 2);
  CHECK_FALSE(unexpected.within());
  BoundTracker missing;
  missing.add(1, kNan, kNan, kNan);
  CHECK_FALSE(missing.within());
}

TEST_CASE("an infinity or a NaN is right where the sum's terms are beyond a float's range, and nowhere else") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double result : {kInfinity, -kInfinity, kNan}) {
    BoundTracker overflowing;
    overflowing.add_rounded(result, 1e30, 1e33, round_bf16, 1e39);
    CHECK(overflowing.within());
    BoundTracker in_range;
    in_range.add_rounded(result, 1e30, 1e33, round_bf16, 3e38);
    CHECK_FALSE(in_range.within());
  }
  BoundTracker finite;
  finite.add_rounded(2e33, 1e30, 1e33, round_bf16, 1e39);
  CHECK_FALSE(finite.within());
}

TEST_CASE("mismatches count differing bits, except between two NaNs") {
  Tensor expected = make_tensor("x", DType::kFp8, {4});
  Tensor actual = expected;
  elements<std::uint8_t>(expected)[0] = 0x7F;
  elements<std::uint8_t>(actual)[0] = 0xFF;
  elements<std::uint8_t>(actual)[3] = 0x80;  // -0, or FNUZ's NaN
  CHECK(mismatches(expected, actual, Fp8Format::kOcp) == 1);
  CHECK(mismatches(expected, actual, Fp8Format::kFnuz) == 2);
  Tensor half = make_tensor("y", DType::kBFloat16, {2});
  Tensor other = half;
  elements<BFloat16Bits>(half)[0] = 0x7FC0;
  elements<BFloat16Bits>(other)[0] = 0xFFC1;
  elements<BFloat16Bits>(other)[1] = 0x8000;
  CHECK(mismatches(half, other, Fp8Format::kOcp) == 1);
}

}  // namespace
}  // namespace monojit::kernels::reference
