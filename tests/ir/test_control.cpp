#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "ir/dsl.h"
#include "tests/ir/ir_text.h"

// Control flow over constants folds to a constant, so that what a program would have stored can be read off its IR.

namespace monojit::ir {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr ArgumentSpec kArguments[] = {{.name = "out", .alignment = 16}};

/// What `program` stores, after folding: "i32 45".
std::string stored(const std::function<Int32()>& program) {
  Kernel kernel({.name = "folds", .workgroup_size = 64, .arguments = kArguments});
  store(kernel.argument<Ptr<Int32, Global>>("out"), program());
  const std::string text = test::folded_text(kernel);
  const std::size_t store = text.find("store ");
  INFO(text);
  REQUIRE(store != std::string::npos);
  return text.substr(store + 6, text.find(',', store) - store - 6);
}

/// Which arm of a three-way chain runs.
std::string arm(int x) {
  return stored([&] {
    Var<Int32> result(0);
    const Int32 value = x;
    If(value == 1, [&] { result = 10; }).ElseIf(value == 2, [&] { result = 20; }).Else([&] { result = 30; });
    result += 1;
    return result.value();
  });
}

TEST_CASE("If, ElseIf and Else run exactly one arm") {
  CHECK(arm(1) == "i32 11");
  CHECK(arm(2) == "i32 21");
  CHECK(arm(3) == "i32 31");
}

TEST_CASE("A chain without Else may run no arm") {
  for (const int x : {1, 2, 3}) {
    const std::string expected = x == 1 ? "i32 10" : x == 2 ? "i32 20" : "i32 7";
    CHECK(stored([&] {
            Var<Int32> result(7);
            const Int32 value = x;
            If(value == 1, [&] { result = 10; }).ElseIf(value == 2, [&] { result = 20; });
            return result.value();
          }) == expected);
  }
}

TEST_CASE("The condition of an ElseIf is evaluated on the else side alone") {
  // Were it evaluated on the way past the first arm as well, the count would be 1 there.
  CHECK(stored([] {
          Var<Int32> evaluated(0);
          const auto count = [&] {
            evaluated += 1;
            return Bool(true);
          };
          If(Bool(true), [] {}).ElseIf(count(), [] {}).Else([] {});
          return evaluated.value();
        }) == "i32 0");
}

TEST_CASE("Branches nest") {
  CHECK(stored([] {
          Var<Int32> sum(0);
          for (const Int32 i : {0, 1, 2, 3, 4, 5}) {
            If(i < 3, [&] { If(i == 1, [&] { sum += 100; }).Else([&] { sum += 1; }); }).Else([&] { sum += 10; });
          }
          return sum.value();
        }) == "i32 132");
}

TEST_CASE("For counts up to its end, by its step, signed") {
  const auto count = [](int begin, int end, int step) {
    return stored([&] {
      Var<Int32> sum(0);
      For(begin, end, step, [&](Int32 i) { sum += i; });
      return sum.value();
    });
  };
  CHECK(count(0, 10, 1) == "i32 45");
  CHECK(count(0, 10, 4) == "i32 12");
  CHECK(count(-3, 2, 1) == "i32 -5");
  CHECK(count(5, 5, 1) == "i32 0");
  CHECK(count(5, -5, 1) == "i32 0");
}

TEST_CASE("While tests before its body, DoWhile behind it") {
  CHECK(stored([] {
          Var<Int32> n(0);
          While([&] { return n * n < 50; }, [&] { n += 1; });
          return n.value();
        }) == "i32 8");
  CHECK(stored([] {
          Var<Int32> n(9);
          While([&] { return n < 5; }, [&] { n += 1; });
          return n.value();
        }) == "i32 9");
  CHECK(stored([] {
          Var<Int32> n(9);
          DoWhile([&] {
            n += 1;
            return n < 5;
          });
          return n.value();
        }) == "i32 10");
}

TEST_CASE("BreakIf leaves the innermost loop") {
  CHECK(stored([] {
          Var<Int32> sum(0);
          For(0, 3, [&](Int32 i) {
            For(0, 10, [&](Int32 j) {
              BreakIf(j > i);
              sum += 1;
            });
          });
          return sum.value();
        }) == "i32 6");
}

TEST_CASE("ReturnIf ends the kernel: nothing behind it happens") {
  Kernel kernel({.name = "ends", .workgroup_size = 64, .arguments = kArguments});
  ReturnIf(Bool(true));
  store(kernel.argument<Ptr<Int32, Global>>("out"), 3);
  CHECK_THAT(test::folded_text(kernel), !ContainsSubstring("store "));
}

TEST_CASE("A copied Var is a variable of its own") {
  CHECK(stored([] {
          Var<Int32> a(1);
          Var<Int32> b = a;
          b += 5;
          a = a * 10 + b;
          return a.value();
        }) == "i32 16");
}

TEST_CASE("Loops stay loops in what LLVM makes of them") {
  Kernel kernel({.name = "rolled", .workgroup_size = 64, .arguments = kArguments});
  const auto out = kernel.argument<Ptr<Int32, Global>>("out");
  For(0, 4, [&](Int32 i) { store(out + i * 64 + lane_id(), i); });
  const std::string text = test::folded_text(kernel);
  CHECK_THAT(text, ContainsSubstring("llvm.loop.unroll.disable"));
  INFO(text);
  CHECK(text.find("  store ") == text.rfind("  store "));
}

}  // namespace
}  // namespace monojit::ir
