// The byte counters: what active lanes moved, by where it lies.
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/devices.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint64_t kFull = 64, kSome = 3;  // lanes

struct Expected {
  MemorySpace space;
  std::uint64_t loaded;
  std::uint64_t stored;
};

struct Row {
  std::string text;  ///< s[4:5] memory, s[8:11] a buffer of its first 64 bytes, v1 4 * lane, v2 16 * lane, v3 zero
  std::vector<Expected> expected;
  bool weak = true;  ///< the weak memory mode has it
};

constexpr MemorySpace kLds = MemorySpace::kLds, kScratch = MemorySpace::kScratch;

/// `memory`: where s[4:5] points to.
std::vector<Row> rows_of(MemorySpace memory) {
  const std::string some = "s_mov_b64 exec, 0x15\n";  // three lanes
  return {
      {"global_load_dwordx4 v[8:11], v2, s[4:5]", {{memory, kFull * 16, 0}}},
      {some + "global_load_ushort v8, v1, s[4:5]", {{memory, kSome * 2, 0}}},
      {some + "global_store_dwordx3 v2, v[8:10], s[4:5]", {{memory, 0, kSome * 12}}},
      {"s_mov_b64 exec, 0\n global_store_dword v1, v8, s[4:5]", {}},
      {"global_atomic_add v1, v8, s[4:5]", {{memory, 0, kFull * 4}}},
      {some + "global_atomic_add_x2 v[10:11], v3, v[8:9], s[4:5] sc0", {{memory, kSome * 8, kSome * 8}}},
      {"buffer_load_dword v8, v1, s[8:11], 0 offen", {{memory, 64, 0}}},  // 16 of the lanes are in range
      {"buffer_load_dwordx4 v[8:11], v2, s[8:11], 0 offen offset:8", {{memory, 56, 0}}},
      {some + "buffer_store_short v8, v1, s[8:11], 0 offen", {{memory, 0, kSome * 2}}},
      {"buffer_load_format_x v8, v1, s[8:11], 0 offen", {{memory, 64, 0}}},
      {"v_mov_b32 v4, s4\n v_mov_b32 v5, s5\n flat_load_dwordx2 v[8:9], v[4:5]", {{memory, kFull * 8, 0}}},
      {"v_mov_b32 v4, v1\n v_mov_b32 v5, 0x10000\n flat_store_dword v[4:5], v8", {{kLds, 0, kFull * 4}}},
      {"v_mov_b32 v4, 8\n v_mov_b32 v5, 0x20000\n flat_load_dword v8, v[4:5]", {{kScratch, kFull * 4, 0}}},
      {"s_mov_b32 m0, 0\n global_load_lds_dword v1, s[4:5]", {{memory, kFull * 4, 0}, {kLds, 0, kFull * 4}}},
      {some + "s_mov_b32 m0, 0\n buffer_load_dwordx4 v2, s[8:11], 0 offen lds",
       {{memory, 32, 0}, {kLds, 0, kSome * 16}}},  // lanes 0, 2 and 4, the last of them out of range
      {"s_load_dwordx8 s[16:23], s[4:5], 0x0", {{memory, 32, 0}}},
      {"s_buffer_load_dwordx2 s[16:17], s[8:11], 0x3c", {{memory, 4, 0}}},
      {"s_store_dwordx2 s[16:17], s[4:5], 0x0", {{memory, 0, 8}}, false},
      {"s_atomic_add s16, s[4:5], 0x0 glc", {{memory, 4, 4}}, false},
      {"s_load_dwordx4 s[16:19], s[0:1], 0x0", {}},  // arguments
      {"ds_read_b64 v[8:9], v1", {{kLds, kFull * 8, 0}}},
      {some + "ds_write2_b32 v1, v8, v9 offset1:1", {{kLds, 0, kSome * 8}}},
      {"ds_add_u32 v3, v8", {{kLds, 0, kFull * 4}}},
      {some + "ds_add_rtn_u64 v[10:11], v3, v[8:9]", {{kLds, kSome * 8, kSome * 8}}},
      {"ds_bpermute_b32 v8, v1, v2", {}},  // moves no memory
      {"scratch_store_dwordx2 off, v[8:9], off", {{kScratch, 0, kFull * 8}}},
      {some + "scratch_load_dword v8, off, off offset:4", {{kScratch, kSome * 4, 0}}},
  };
}

KernelText kernel_of(const std::string& text) {
  return {.body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v2, 4, v0
  v_mov_b32 v3, 0
  v_mov_b32 v8, 0
  v_mov_b32 v9, 0
  s_movk_i32 s10, 64
  s_mov_b32 s11, 0x27fac
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
)" + text + "\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n",
          .lds_bytes = 1024,
          .scratch_bytes = 64};
}

void check(const MovedBytes& bytes, const std::vector<Expected>& expected) {
  MovedBytes wanted;
  for (const Expected& each : expected) {
    wanted.loaded[static_cast<u32>(each.space)] = each.loaded;
    wanted.stored[static_cast<u32>(each.space)] = each.stored;
  }
  for (u32 space = 0; space < static_cast<u32>(MemorySpace::kUncounted); ++space) {
    INFO("space " << space);
    CHECK(bytes.loaded[space] == wanted.loaded[space]);
    CHECK(bytes.stored[space] == wanted.stored[space]);
  }
}

TEST_CASE("bytes are counted for active lanes by where they lie, whatever the memory mode") {
  constexpr u64 kBytes = 4096;
  for (const MemoryMode mode : {MemoryMode::kCoherent, MemoryMode::kWeak}) {
    Settings settings{.devices = 2};
    settings.memory = mode;
    Devices devices(settings);
    devices.enable_peers();
    Allocations& allocations = devices.allocations();
    const std::pair<MemorySpace, u64> places[] = {
        {MemorySpace::kDevice, devices.allocate<u8>(kBytes, 0).address()},
        {MemorySpace::kPeer, devices.allocate<u8>(kBytes, 1).address()},
        {MemorySpace::kHost, reinterpret_cast<u64>(allocations.allocate(kBytes, Allocations::Use::kHost))},
    };
    for (const auto& [space, address] : places) {
      for (const Row& row : rows_of(space)) {
        if (mode == MemoryMode::kWeak && !row.weak) continue;
        INFO("memory " << static_cast<u32>(space) << ": " << row.text);
        const auto grid = devices.start(0, kernel_of(row.text), {}, {address});
        devices.finish();
        REQUIRE_FALSE(grid->failure());
        check(grid->report().bytes, row.expected);
      }
    }
  }
}

TEST_CASE("bytes of all workgroups and threads add up, and each launch has its own") {
  constexpr std::uint32_t kWorkgroups = 50;
  Settings settings;
  settings.threads = 2;
  Device device(settings);
  const auto words = device.allocate<std::uint32_t>(64);
  for (int launch = 0; launch < 2; ++launch) {
    const LaunchReport report =
        device.run(kernel_of("global_load_dword v8, v1, s[4:5]"), {.grid = {kWorkgroups, 1, 1}}, {words.address()});
    check(report.bytes, {{MemorySpace::kDevice, kWorkgroups * 64 * 4, 0}});
  }
}

}  // namespace
}  // namespace monojit::emulator::test
