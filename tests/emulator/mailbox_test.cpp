// A hand-off between workgroups as kernels write it in the DSL: data, a wait, a flag. Whole, it never fails in the weak
// memory mode; with any piece taken out, it does under some seed.
#include <catch2/catch_test_macros.hpp>
#include <llvm/IR/Module.h>

#include "codegen/build.h"
#include "ir/dsl.h"
#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using ir::CachePolicy;
using ir::Int32;

constexpr std::uint32_t kSeeds = 200;
constexpr int kWords = 64;     // one a lane
constexpr int kFlagAt = 4096;  // bytes from the data
constexpr int kValue = 1000;   // plus the lane
constexpr ir::ArgumentSpec kArguments[] = {{.name = "mailbox", .alignment = 4}, {.name = "out", .alignment = 4}};

/// The pieces of the hand-off.
struct HandOff {
  bool wait = true;
  CachePolicy data_store = CachePolicy::kDevice;
  CachePolicy flag_store = CachePolicy::kDevice;
  CachePolicy flag_load = CachePolicy::kDevice;
  CachePolicy data_load = CachePolicy::kDevice;
};

/// A load that the compiler neither merges nor moves; `repeat` would add scope bits of its own.
Int32 fresh_load(const ir::BufferResource& from, const Int32& at, CachePolicy policy) {
  ir::compiler_fence();
  const Int32 value = ir::load<Int32>(from, at, {.policy = policy});
  ir::compiler_fence();
  return value;
}

codegen::Build build(const HandOff& pieces) {
  ir::Kernel kernel({.name = "hand_off", .workgroup_size = 64, .arguments = kArguments});
  const ir::BufferResource mailbox(kernel.argument<ir::Ptr<Int32, ir::Global>>("mailbox"));
  const auto out = kernel.argument<ir::Ptr<Int32, ir::Global>>("out");
  const Int32 at = ir::thread_id() * 4;
  ir::If(ir::workgroup_id() == 0, [&] {
    ir::store(mailbox, at, ir::thread_id() + kValue, {.policy = pieces.data_store});
    if (pieces.wait) ir::wait_vmcnt(0);
    ir::compiler_fence();
    ir::store(mailbox, Int32(kFlagAt), Int32(1), {.policy = pieces.flag_store});
  }).Else([&] {
    const Int32 before = fresh_load(mailbox, at, CachePolicy::kDefault);  // the caches know the place
    ir::While([&] { return fresh_load(mailbox, Int32(kFlagAt), pieces.flag_load) == 0; }, [&] { ir::s_sleep(1); });
    const Int32 after = fresh_load(mailbox, at, pieces.data_load);
    store(out + ir::thread_id(), ir::select(before == -1, before, after));
  });
  return codegen::compile(kernel.finish(), ir::kTargetGfx950);
}

/// Under how many seeds the reader missed data or waited for ever.
std::uint32_t failures(const HandOff& pieces) {
  const codegen::Build code = build(pieces);
  Settings settings;
  settings.memory = MemoryMode::kWeak;
  Device device(settings);
  const auto mailbox = device.allocate<std::uint32_t>(kFlagAt / 4 + 1);
  const auto out = device.allocate<std::uint32_t>(kWords);
  const Kernel& kernel = device.load(code.code_object, code.symbol);
  std::uint32_t failed = 0;
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    std::ranges::fill(mailbox.all(), 0u);
    device.set_seed(seed);
    bool whole = true;
    try {
      device.launch(kernel, {.grid = {2, 1, 1}}, {mailbox.address(), out.address()});
      for (std::uint32_t i = 0; i < kWords; ++i) whole &= out[i] == kValue + i;
    } catch (const Failure& failure) {
      REQUIRE(failure.kind() == FailureKind::kDeadlock);
      whole = false;
    }
    failed += whole ? 0 : 1;
  }
  return failed;
}

TEST_CASE("a hand-off with scope bits and a wait never fails") { CHECK(failures({}) == 0); }

TEST_CASE("a hand-off without the wait fails under some seed") { CHECK(failures({.wait = false}) > 0); }

TEST_CASE("a hand-off without one of its scope bits fails under some seed") {
  CHECK(failures({.data_store = CachePolicy::kDefault}) > 0);
  CHECK(failures({.flag_store = CachePolicy::kDefault}) > 0);
  CHECK(failures({.flag_load = CachePolicy::kDefault}) > 0);
  CHECK(failures({.data_load = CachePolicy::kDefault}) > 0);
}

}  // namespace
}  // namespace monojit::emulator::test
