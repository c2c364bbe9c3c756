#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <llvm/IR/Module.h>

#include "ir/dsl.h"

namespace monojit::ir {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr ArgumentSpec kArguments[] = {
    {.name = "out", .alignment = 16},
    {.name = "count", .type = ArgumentType::kInt32},
};
constexpr KernelOptions kOptions = {
    .name = "faulty", .target = kTargetGfx942, .workgroup_size = 64, .arguments = kArguments};

/// The refusal of what `emit` writes, or a failed test.
BuildError refusal(const std::function<void(Kernel&)>& emit) {
  Kernel kernel(kOptions);
  try {
    emit(kernel);
    kernel.finish();
  } catch (const BuildError& error) {
    CHECK_THAT(error.file(), ContainsSubstring("tests/ir/test_errors.cpp"));
    CHECK(error.line() != 0);
    return error;
  }
  FAIL("was not refused");
  return {"", "", "", Loc::current()};
}
std::string text(const std::function<void(Kernel&)>& emit) { return refusal(emit).what(); }

TEST_CASE("An operation that the chip lacks is refused with its name, the chip and the line") {
  unsigned line = 0;
  const BuildError error = refusal([&](Kernel&) {
    line = Loc::current().line() + 1;
    permlane32_swap(lane_id(), lane_id());
  });
  CHECK(error.operation() == "permlane32_swap");
  CHECK(error.chip() == "gfx942");
  CHECK(error.line() == line);
  CHECK_THAT(error.what(), ContainsSubstring("permlane32_swap on gfx942: the chip has no such operation"));
}

TEST_CASE("A value used outside of its scope is refused with both lines") {
  unsigned made = 0;
  unsigned used = 0;
  const BuildError error = refusal([&](Kernel& kernel) {
    const Uniform<Ptr<Int32, Global>> out = kernel.argument<Ptr<Int32, Global>>("out");
    Int32 leaked;
    made = Loc::current().line() + 1;
    If(lane_id() < 5, [&] { leaked = lane_id() * 3; });
    used = Loc::current().line() + 1;
    store(out + lane_id(), leaked);
  });
  CHECK(error.line() == used);
  CHECK_THAT(error.what(),
             ContainsSubstring(":" + std::to_string(made) + " is used here, outside of the If, For or While"));
}

TEST_CASE("A loop counter used behind its loop is refused") {
  CHECK_THAT(text([](Kernel& kernel) {
               Int32 last;
               For(0, kernel.argument<Int32>("count"), [&](Int32 i) { last = i + 1; });
               store(kernel.argument<Ptr<Int32, Global>>("out") + 1, last);
             }),
             ContainsSubstring("carry it in a Var"));
}

TEST_CASE("A value that was never assigned is refused where it is used") {
  CHECK_THAT(text([](Kernel&) { lane_id() + Int32(); }), ContainsSubstring("never assigned"));
  CHECK_THAT(text([](Kernel&) { fma(Float32(), 1.0F, 2.0F); }), ContainsSubstring("never assigned"));
  CHECK_THAT(text([](Kernel&) { If(Bool(), [] {}); }), ContainsSubstring("never assigned"));
  CHECK_THAT(text([](Kernel&) { load(Ptr<Int32, Global>()); }), ContainsSubstring("never assigned"));
  CHECK_THAT(text([](Kernel&) { load<Int32>(BufferResource(), 0); }), ContainsSubstring("never assigned"));
  CHECK_THAT(text([](Kernel&) { BufferResource(Uniform<Ptr<Int32, Global>>()); }), ContainsSubstring("never assigned"));
}

TEST_CASE("An Else that does not follow its If is refused") {
  CHECK_THAT(text([](Kernel& kernel) {
               IfChain chain = If(lane_id() < 3, [] { s_sleep(1); });
               store(kernel.argument<Ptr<Int32, Global>>("out"), 1);
               chain.Else([] { s_sleep(2); });
             }),
             ContainsSubstring("other code stands between the If and its Else"));
}

TEST_CASE("Control flow that leads nowhere is refused") {
  CHECK_THAT(text([](Kernel&) { BreakIf(lane_id() == 0); }), ContainsSubstring("there is no loop here"));
}

TEST_CASE("Literals and indices out of range are refused") {
  CHECK_THAT(text([](Kernel&) { lane_id() + 0x1'0000'0000; }),
             ContainsSubstring("4294967296 does not fit into 32 bits"));
  CHECK_THAT(text([](Kernel&) {
               const Vec<Int32, 4> v = 0;
               v[4];
             }),
             ContainsSubstring("index 4 of a vector of 4"));
  CHECK_THAT(text([](Kernel&) {
               Vec<Int32, 4> v = 0;
               v.set(-1, 3);
             }),
             ContainsSubstring("index -1 of a vector of 4"));
  CHECK_THAT(text([](Kernel&) { wait_vmcnt(64); }), ContainsSubstring("64 is outside of 0..63"));
  CHECK_THAT(text([](Kernel&) { wait_lgkmcnt(16); }), ContainsSubstring("16 is outside of 0..15"));
  CHECK_THAT(text([](Kernel&) { s_sleep(128); }), ContainsSubstring("128 is outside of 1..127"));
  CHECK_THAT(text([](Kernel&) { lane_xor(lane_id(), 3); }), ContainsSubstring("1, 2, 4, 8, 16 or 32"));
}

TEST_CASE("Unsigned 32-bit literals fit into Int32") {
  const Kernel kernel(kOptions);
  CHECK_NOTHROW(lane_id() & 0xFFFFFFFFU);
}

TEST_CASE("Accesses of a size that no instruction has are refused") {
  const auto access = [](auto emit) {
    return text([&](Kernel& kernel) { emit(BufferResource(kernel.argument<Ptr<Int32, Global>>("out"))); });
  };
  CHECK_THAT(access([](const BufferResource& r) { load<Vec<Int32, 5>>(r, 0); }), ContainsSubstring("20 bytes a lane"));
  CHECK_THAT(access([](const BufferResource& r) { store(r, 0, Vec<Int32, 8>(0)); }),
             ContainsSubstring("32 bytes a lane"));
  CHECK_THAT(access([](const BufferResource& r) { load_to_lds<8>(r, 0, LdsLayout().array<Int32>("x", 64).pointer()); }),
             ContainsSubstring("8 bytes a lane"));
  CHECK_THAT(text([](Kernel&) { shuffle(Vec<Int16, 3>(1), 0); }), ContainsSubstring("whole dwords"));
}

TEST_CASE("Orders that make no sense are refused") {
  CHECK_THAT(text([](Kernel&) { fence(Scope::kDevice, Order::kRelaxed); }), ContainsSubstring("orders nothing"));
  CHECK_THAT(
      text([](Kernel& k) { atomic_load(k.argument<Ptr<Int32, Global>>("out"), Scope::kDevice, Order::kRelease); }),
      ContainsSubstring("a load can't release"));
  CHECK_THAT(
      text([](Kernel& k) { atomic_store(k.argument<Ptr<Int32, Global>>("out"), 1, Scope::kDevice, Order::kAcquire); }),
      ContainsSubstring("a store can't acquire"));
}

TEST_CASE("An argument of another name or type is refused") {
  CHECK_THAT(text([](Kernel& kernel) { kernel.argument<Int32>("cuont"); }),
             ContainsSubstring("faulty has no argument 'cuont'"));
  CHECK_THAT(text([](Kernel& kernel) { kernel.argument<Int64>("count"); }),
             ContainsSubstring("'count' of faulty is of another type"));
}

TEST_CASE("More LDS than the chip has is refused with the array that crosses the limit") {
  constexpr std::uint32_t kMostOf942 = 60 * 1024;
  const auto place = [] {
    LdsLayout lds;
    lds.array<UInt8>("rows", kMostOf942);
    lds.array<Float32>("partials", 2048);
  };
  const BuildError error = refusal([&](Kernel&) { place(); });
  CHECK(error.chip() == "gfx942");
  CHECK_THAT(error.what(), ContainsSubstring("'partials' ends at byte 69632, but a workgroup has 65536 bytes"));
  KernelOptions larger_chip = kOptions;
  larger_chip.target = kTargetGfx950;
  const Kernel kernel(larger_chip);
  CHECK_NOTHROW(place());
  CHECK(kernel.lds_bytes() == 69632);
}

TEST_CASE("The DSL outside of a kernel, or behind its end, is refused") {
  CHECK_THROWS_AS(lane_id(), BuildError);
  Kernel kernel(kOptions);
  kernel.finish();
  CHECK_THROWS_AS(lane_id(), BuildError);
  CHECK_THROWS_AS(kernel.finish(), BuildError);
}

TEST_CASE("Workgroups of no or too many threads are refused") {
  for (const std::uint32_t threads : {0U, 1025U}) {
    KernelOptions options = kOptions;
    options.workgroup_size = threads;
    CHECK_THROWS_AS(Kernel(options), BuildError);
  }
}

TEST_CASE("A kernel that was given up leaves its thread ready for the next") {
  CHECK_THROWS_AS(
      [] {
        const Kernel kernel(kOptions);
        For(0, 4, [](Int32) { s_sleep(0); });
      }(),
      BuildError);
  Kernel kernel(kOptions);
  s_sleep(1);
  CHECK(kernel.finish() != nullptr);
}

}  // namespace
}  // namespace monojit::ir
