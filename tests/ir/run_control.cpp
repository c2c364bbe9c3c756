#include <catch2/catch_test_macros.hpp>

#include "tests/ir/lane_program.h"

// Control flow in which lanes part, run on the emulator.

namespace monojit::ir::test {
namespace {

void check_on_all(const std::vector<std::uint32_t>& input, const std::function<Int32(const Int32&)>& program,
                  const std::function<std::uint32_t(std::uint32_t)>& model) {
  for (const Target& target : targets()) {
    INFO(target.arch);
    CHECK(run_lanes(target, input, program) == mapped(input, model));
  }
}

TEST_CASE("Each lane runs its own arm") {
  check_on_all(
      sequence(),
      [](const Int32& x) {
        Var<Int32> y(0);
        If(x % 3 == 0, [&] { y = x * 2; }).ElseIf(x % 3 == 1, [&] { y = x + 1000; }).Else([&] { y = -x; });
        return y.value();
      },
      [](std::uint32_t x) { return x % 3 == 0   ? x * 2
                                   : x % 3 == 1 ? x + 1000
                                                : 0 - x; });
}

TEST_CASE("Each lane counts to its own end") {
  check_on_all(
      sequence(),
      [](const Int32& x) {
        Var<Int32> sum(0);
        For(0, x, 2, [&](Int32 i) { sum += i * x; });
        return sum.value();
      },
      [](std::uint32_t x) {
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < x; i += 2) sum += i * x;
        return sum;
      });
}

TEST_CASE("Lanes leave a loop one by one") {
  // Steps of the Collatz sequence to 1.
  check_on_all(
      sequence(1),
      [](const Int32& x) {
        Var<Int32> value(x);
        Var<Int32> steps(0);
        While([&] { return value != 1; },
              [&] {
                const Int32 v = value;
                value = select((v & 1) == 0, v >> 1, v * 3 + 1);
                steps += 1;
              });
        return steps.value();
      },
      [](std::uint32_t x) {
        std::uint32_t steps = 0;
        for (; x != 1; ++steps) x = x % 2 == 0 ? x / 2 : x * 3 + 1;
        return steps;
      });
}

TEST_CASE("BreakIf takes out the lanes for which it holds, DoWhile runs at least once") {
  check_on_all(
      sequence(),
      [](const Int32& x) {
        Var<Int32> n(0);
        DoWhile([&] {
          n += 1;
          BreakIf(n * n > x);
          return n < 6;
        });
        return n.value();
      },
      [](std::uint32_t x) {
        std::uint32_t n = 0;
        do {
          ++n;
          if (n * n > x) break;
        } while (n < 6);
        return n;
      });
}

TEST_CASE("ReturnIf ends lanes and leaves the others running") {
  for (const Target& target : targets()) {
    const std::vector<std::uint32_t> given = run_lanes(target, sequence(), [](const Int32& x) {
      ReturnIf((x & 4) != 0);
      return x + 7;
    });
    for (std::uint32_t lane = 0; lane < 64; ++lane) CHECK(given[lane] == ((lane & 4) != 0 ? 0xDEADBEEF : lane + 7));
  }
}

TEST_CASE("A uniform loop around a divergent branch keeps its count") {
  check_on_all(
      sequence(),
      [](const Int32& x) {
        Var<Int32> sum(0);
        For(0, 5, [&](Uniform<Int32> i) { If(x > i * 10, [&] { sum += 1 << i; }); });
        return sum.value();
      },
      [](std::uint32_t x) {
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < 5; ++i) sum += x > i * 10 ? 1U << i : 0;
        return sum;
      });
}

}  // namespace
}  // namespace monojit::ir::test
