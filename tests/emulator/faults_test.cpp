// What must stop a kernel or a load, and what the message says.
#include <cstdlib>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// Runs and returns the failure, which must come.
template <class Body>
Failure failure_of(Body body) {
  try {
    body();
  } catch (const Failure& failure) {
    return failure;
  }
  FAIL("nothing failed");
  return {FailureKind::kInvalidValue, ""};
}

// Stores the work-item id at 4 * id + the second argument.
constexpr const char* kStoreIds = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v1, 2, v0
  v_add_u32 v1, s6, v1
  global_store_dword v1, v0, s[4:5]
)";

TEST_CASE("a store behind an allocation names kernel, workgroup, wave, lane, address, instruction and allocation") {
  Device device;
  const auto buffer = device.allocate<std::uint32_t>(100);
  const Failure failure = failure_of(
      [&] { device.run({.name = "store_ids", .body = kStoreIds}, {.block = {128, 1, 1}}, {buffer.address(), 0}); });
  CHECK(failure.kind() == FailureKind::kIllegalAddress);
  const std::string text = failure.what();
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("kernel store_ids: store of 4 bytes at"));
  CHECK_THAT(text, ContainsSubstring(
                       fmt::format("{:#x} by lane 36: 0 bytes behind the end of allocation", buffer.address() + 400)));
  CHECK_THAT(text, ContainsSubstring("400 bytes)"));
  CHECK_THAT(text, ContainsSubstring("workgroup (0, 0, 0), wave 1"));
  CHECK_THAT(text, ContainsSubstring("global_store_dword v1, v0, s[4:5]"));
  for (std::uint32_t i = 0; i < 100; ++i) REQUIRE(buffer[i] == i);
}

TEST_CASE("memory that was freed is named as such") {
  Device device;
  const auto buffer = device.allocate<std::uint32_t>(64);
  const Kernel& kernel = device.load(assemble({.body = kStoreIds}), "kernel");
  // What a launch needs is there after the first one: nothing new comes to where the buffer was.
  device.launch(kernel, {}, {buffer.address(), 0});
  REQUIRE(device.release(buffer.data));
  const Failure failure = failure_of([&] { device.launch(kernel, {}, {buffer.address(), 0}); });
  CHECK_THAT(failure.what(), ContainsSubstring("inside the freed allocation"));
}

TEST_CASE("a scalar load and a null pointer fault too") {
  Device device;
  const auto load = [&](std::uint64_t address) {
    return failure_of([&] {
      device.run({.body = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n s_load_dword s6, s[4:5], 0x10"},
                 {}, {address});
    });
  };
  CHECK_THAT(load(0).what(), ContainsSubstring("scalar load of 4 bytes at 0x10"));
}

TEST_CASE("an access that wraps around the end of the address space faults") {
  const char* const accesses[] = {
      "s_load_dwordx2 s[6:7], s[4:5], 0x0",         "s_load_dwordx16 s[8:23], s[4:5], 0x0",
      "global_load_dwordx2 v[2:3], v1, s[4:5]",     "global_load_dwordx4 v[2:5], v1, s[4:5]",
      "global_store_dwordx2 v1, v[2:3], s[4:5]",    "global_atomic_add_x2 v1, v[2:3], s[4:5]",
      "flat_load_dwordx4 v[2:5], v[6:7]",           "flat_store_dwordx4 v[6:7], v[2:5]",
      "buffer_load_dwordx4 v[2:5], off, s[4:7], 0", "buffer_store_dwordx4 v[2:5], off, s[4:7], 0",
  };
  for (const std::uint64_t below : {4, 8, 16}) {
    for (const char* const access : accesses) {
      CAPTURE(below, access);
      Device device;
      const Failure failure = failure_of([&] {
        device.run({.body = fmt::format("s_load_dwordx2 s[4:5], s[0:1], 0x0\n v_mov_b32 v1, 0\n s_mov_b32 s6, -1\n"
                                        "s_mov_b32 s7, 0x27000\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v6, s4\n"
                                        "v_mov_b32 v7, s5\n {}",
                                        access)},
                   {}, {0 - below});
      });
      CHECK(failure.kind() == FailureKind::kIllegalAddress);
    }
  }
}

TEST_CASE("LDS accesses end at the workgroup's allocation") {
  Device device;
  const Failure failure = failure_of([&] {
    device.run({.body = "v_lshlrev_b32 v1, 3, v0\n ds_read_b64 v[2:3], v1 offset:8", .lds_bytes = 256}, {}, {});
  });
  CHECK(failure.kind() == FailureKind::kIllegalAddress);
  CHECK_THAT(failure.what(),
             ContainsSubstring("LDS access of 8 bytes at 0x100 by lane 31: the workgroup has 256 bytes of LDS"));
}

TEST_CASE("waves that only wait are a deadlock, and the report says where and for what") {
  Device device;
  const auto mail = device.allocate<std::uint32_t>(4);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
poll:
  global_load_dword v2, v1, s[4:5] offset:8 sc1
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32 vcc, 0, v2
  s_cbranch_vccnz done
  s_sleep 1
  s_branch poll
done:
)";
  const Failure failure = failure_of([&] {
    device.run({.name = "waiter", .body = body}, {.grid = {10, 1, 1}, .block = {128, 1, 1}}, {mail.address()});
  });
  CHECK(failure.kind() == FailureKind::kDeadlock);
  const std::string text = failure.what();
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("kernel waiter: deadlock"));
  CHECK_THAT(text,
             ContainsSubstring("20 waves of 10 workgroups (0, 1, 2, 3, 4, 5, 6, 7, ...) polling with s_sleep before"));
  CHECK_THAT(text, ContainsSubstring(fmt::format("last load at {:#x}, inside allocation", mail.address() + 8)));
}

TEST_CASE("a wait without s_sleep is found too, and a barrier that some waves never reach") {
  Device device;
  const auto mail = device.allocate<std::uint32_t>(1);
  const char* const spin = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_waitcnt lgkmcnt(0)
poll:
  global_load_dword v2, v1, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 0, v2
  s_cbranch_vccnz poll
)";
  CHECK(failure_of([&] { device.run({.body = spin}, {}, {mail.address()}); }).kind() == FailureKind::kDeadlock);
  const char* const barrier = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_cmp_gt_u32 vcc, 64, v0
  s_cbranch_vccnz wait
  s_barrier
wait:
  s_waitcnt lgkmcnt(0)
poll:
  global_load_dword v2, v1, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32 vcc, 0, v2
  s_cbranch_vccnz done
  s_sleep 1
  s_branch poll
done:
)";
  const Failure failure = failure_of([&] { device.run({.body = barrier}, {.block = {128, 1, 1}}, {mail.address()}); });
  CHECK_THAT(failure.what(), ContainsSubstring("at a barrier"));
}

TEST_CASE("a persistent grid that does not fit deadlocks, and the report counts who never started") {
  Device device;
  const auto counter = device.allocate<std::uint32_t>(1);
  // Everybody waits until 300 have arrived; 160 KiB of LDS let 256 in.
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  v_cmp_eq_u32 vcc, 0, v0
  s_mov_b64 exec, vcc
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v2, s[4:5]
poll:
  global_load_dword v3, v1, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_cmp_le_u32 vcc, 0x12c, v3
  s_cbranch_vccnz done
  s_sleep 1
  s_branch poll
done:
)";
  const Shape grid{.grid = {300, 1, 1}};
  const Failure failure =
      failure_of([&] { device.run({.body = body, .lds_bytes = 160 * 1024}, grid, {counter.address()}); });
  CHECK(failure.kind() == FailureKind::kDeadlock);
  CHECK_THAT(failure.what(), ContainsSubstring("44 workgroups never started: the chip holds 256 at once"));
  Shape cooperative = grid;
  cooperative.cooperative = true;
  const Failure refused =
      failure_of([&] { device.run({.body = body, .lds_bytes = 160 * 1024}, cooperative, {counter.address()}); });
  CHECK(refused.kind() == FailureKind::kNotCoResident);
  CHECK_THAT(refused.what(), ContainsSubstring("300 workgroups, where gfx950 holds 256 at once"));
}

TEST_CASE("an unknown instruction stops the kernel only when it is reached") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(1);
  const char* const body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 skip
  ds_gws_init v0 gds
skip:
  v_mov_b32 v1, 0
  v_mov_b32 v2, 7
  global_store_dword v1, v2, s[4:5]
)";
  device.run({.body = body}, {}, {out.address(), 0});
  CHECK(out[0] == 7);
  const Failure failure =
      failure_of([&] { device.run({.name = "global_wave_sync", .body = body}, {}, {out.address(), 1}); });
  CHECK(failure.kind() == FailureKind::kIllegalInstruction);
  CHECK_THAT(failure.what(), ContainsSubstring("kernel global_wave_sync: ds_gws_init: not known to the emulator"));
  CHECK_THAT(failure.what(), ContainsSubstring("instruction 0x"));
}

TEST_CASE("a register beyond the descriptor's, data in the code, a trap and the end of the code are errors") {
  Device device;
  const auto text_of = [&](const char* body) {
    return std::string(failure_of([&] { device.run({.body = body, .vgprs = 16}, {}, {}); }).what());
  };
  CHECK_THAT(text_of("v_mov_b32 v40, 0"), ContainsSubstring("v40 is beyond the 16 VGPRs"));
  CHECK_THAT(text_of(".long 0xffffffff"), ContainsSubstring("not an instruction of this chip"));
  CHECK_THAT(text_of("s_trap 2"), ContainsSubstring("s_trap 2"));
  CHECK_THAT(text_of("s_branch .Lend"), ContainsSubstring("no instruction of this kernel begins"));
}

TEST_CASE("launches that the chip or the kernel can't take are refused with numbers") {
  Device device;
  const auto refusal = [&](const KernelText& text, const Shape& shape) {
    const Failure failure = failure_of([&] { device.run(text, shape, {}); });
    CHECK(failure.kind() == FailureKind::kInvalidLaunch);
    return std::string(failure.what());
  };
  CHECK_THAT(refusal({.body = ""}, {.block = {1025, 1, 1}}),
             ContainsSubstring("1025 work-items, where 1024 is the most"));
  CHECK_THAT(refusal({.body = ""}, {.grid = {0, 1, 1}}), ContainsSubstring("dimension is 0"));
  CHECK_THAT(refusal({.body = "", .vgprs = 256, .agprs = 256}, {.block = {512, 1, 1}}),
             ContainsSubstring("8 waves with 512 registers"));
}

TEST_CASE("files that are no code object for this chip are refused") {
  Device device;
  const auto object = assemble({.body = ""});
  const auto load = [&](std::vector<std::byte> bytes, const char* kernel = "kernel") {
    return failure_of([&] { device.load(bytes, kernel); });
  };
  CHECK_THAT(load(std::vector<std::byte>(100)).what(), ContainsSubstring("not an ELF file"));
  CHECK_THAT(load(std::vector<std::byte>(object.begin(), object.begin() + 400)).what(), ContainsSubstring("truncated"));
  const Failure other = load(assemble({.body = "", .arch = "gfx942"}));
  CHECK(other.kind() == FailureKind::kWrongChip);
  CHECK_THAT(other.what(), ContainsSubstring("code object for gfx942"));
  CHECK_THAT(other.what(), ContainsSubstring("emulated gfx950"));
  const Failure missing = load(object, "kernal");
  CHECK(missing.kind() == FailureKind::kNotFound);
  CHECK_THAT(missing.what(), ContainsSubstring("no kernel kernal in the code object; it has: kernel"));
}

TEST_CASE("settings that are not understood are named") {
  Settings settings;
  CHECK_THROWS_MATCHES(apply_setting(settings, "chip", "gfx1100"), Failure,
                       MessageMatches(ContainsSubstring("chip=gfx1100: not understood")));
  CHECK_THROWS_MATCHES(apply_setting(settings, "threads", "0"), Failure,
                       MessageMatches(ContainsSubstring("use 1..256")));
  CHECK_THROWS_MATCHES(apply_setting(settings, "matrix", "fast"), Failure,
                       MessageMatches(ContainsSubstring("cdna3, fma-chain or exact")));
  CHECK_THROWS_MATCHES(apply_setting(settings, "seed", "-1"), Failure,
                       MessageMatches(ContainsSubstring("seed=-1: not understood, use an unsigned 64-bit number")));
  for (const std::string stalled : {"3,", "3,x", "1:", ":3", "16:3"}) {
    CHECK_THROWS_MATCHES(apply_setting(settings, "stall", stalled), Failure,
                         MessageMatches(ContainsSubstring("stall=" + stalled + ": not understood")));
  }
  CHECK_THROWS_MATCHES(apply_setting(settings, "speed", "1"), Failure,
                       MessageMatches(ContainsSubstring("does not exist")));
}

TEST_CASE("a value from the environment is named with its variable") {
  constexpr const char* kSeed = "MONOJIT_EMULATOR_SEED";
  REQUIRE(setenv(kSeed, "-1", 1) == 0);
  CHECK_THROWS_MATCHES(settings_from_environment(), Failure,
                       MessageMatches(ContainsSubstring("MONOJIT_EMULATOR_SEED=-1: not understood")));
  REQUIRE(unsetenv(kSeed) == 0);
}

TEST_CASE("variables that are nearly settings of the emulator are refused") {
  constexpr const char* kMisspelt = "MONOJIT_EMULATOR_CHECK";
  REQUIRE(setenv(kMisspelt, "", 1) == 0);
  CHECK_NOTHROW(settings_from_environment());
  REQUIRE(setenv(kMisspelt, "all", 1) == 0);
  CHECK_THROWS_MATCHES(
      settings_from_environment(), Failure,
      MessageMatches(ContainsSubstring("MONOJIT_EMULATOR_CHECK is no setting; there are MONOJIT_EMULATOR_CHIP") &&
                     ContainsSubstring("MONOJIT_EMULATOR_CHECKS")));
  REQUIRE(unsetenv(kMisspelt) == 0);
  CHECK_NOTHROW(settings_from_environment());
}

}  // namespace
}  // namespace monojit::emulator::test
