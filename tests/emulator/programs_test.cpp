// Small whole kernels: what a wave, a workgroup and a grid do together.
#include <numeric>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint64_t kSeed = 7;

Settings with(u32 threads, u64 seed, ChipLimits chip = kMi355x) {
  Settings settings;
  settings.chip = chip;
  settings.threads = threads;
  settings.seed = seed;
  return settings;
}

// out[i] = a[i] + b[i], one work-item an element.
constexpr const char* kVectorAdd = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  s_lshl_b32 s3, s2, 6
  v_add_u32_e32 v1, s3, v0
  v_lshlrev_b32_e32 v1, 2, v1
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v2, v2, v3
  global_store_dword v1, v2, s[8:9]
)";

TEST_CASE("a grid of workgroups adds two vectors, on both chips and both host instruction sets") {
  constexpr std::size_t kCount = 64 * 37;
  const ChipLimits chip = GENERATE(kMi355x, kMi300x);
  const HostIsa isa = GENERATE(HostIsa::kX86V3, HostIsa::kX86V4);
  if (!host_has(isa)) SKIP("this host lacks the instruction set");
  Device device(with(1, 0, chip), isa);
  std::vector<float> a(kCount), b(kCount);
  std::iota(a.begin(), a.end(), 1.0f);
  std::iota(b.begin(), b.end(), 0.25f);
  const auto da = device.upload(a), db = device.upload(b), out = device.allocate<float>(kCount);
  const auto report =
      device.run({.body = kVectorAdd}, {.grid = {37, 1, 1}}, {da.address(), db.address(), out.address()});
  for (std::size_t i = 0; i < kCount; ++i) REQUIRE(out[i] == a[i] + b[i]);
  constexpr std::uint64_t kInstructions = 12, kVector = 3, kWaits = 3;
  CHECK(report.counts[static_cast<u32>(CountClass::kAll)] == 37 * kInstructions);
  CHECK(report.counts[static_cast<u32>(CountClass::kVector)] == 37 * kVector);
  CHECK(report.counts[static_cast<u32>(CountClass::kOther)] == 37 * kWaits);
}

TEST_CASE("a workgroup transposes 16 x 16 words through LDS") {
  Device device;
  std::vector<std::uint32_t> in(256);
  std::iota(in.begin(), in.end(), 100u);
  const auto source = device.upload(in), out = device.allocate<std::uint32_t>(256);
  const char* const body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_and_b32 v3, 15, v0
  v_lshrrev_b32 v4, 4, v0
  v_lshl_add_u32 v3, v3, 4, v4
  v_lshlrev_b32 v3, 2, v3
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v5, s[6:7]
)";
  device.run({.body = body, .lds_bytes = 1024}, {.block = {256, 1, 1}}, {source.address(), out.address()});
  for (std::size_t i = 0; i < 256; ++i) REQUIRE(out[i] == in[(i % 16) * 16 + i / 16]);
}

TEST_CASE("a wave sums its lanes with DPP") {
  Device device;
  std::vector<float> in(64);
  std::iota(in.begin(), in.end(), 1.0f);
  const auto source = device.upload(in), out = device.allocate<float>(1);
  const char* const body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_f32_dpp v2, v2, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
  v_add_f32_dpp v2, v2, v2 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:0
  v_add_f32_dpp v2, v2, v2 row_shr:4 row_mask:0xf bank_mask:0xe
  v_add_f32_dpp v2, v2, v2 row_shr:8 row_mask:0xf bank_mask:0xc
  v_add_f32_dpp v2, v2, v2 row_bcast:15 row_mask:0xa bank_mask:0xf
  v_add_f32_dpp v2, v2, v2 row_bcast:31 row_mask:0xc bank_mask:0xf
  v_readlane_b32 s8, v2, 63
  v_mov_b32 v3, s8
  v_mov_b32 v4, 0
  global_store_dword v4, v3, s[6:7]
)";
  device.run({.body = body}, {}, {source.address(), out.address()});
  CHECK(out[0] == 64 * 65 / 2);
}

TEST_CASE("lanes leave a loop one by one and join again") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(64);
  // Each lane counts how often 3n+1 / n/2 is applied to lane + 1 until 1 is reached.
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_add_u32 v1, 1, v0
  v_mov_b32 v2, 0
  s_mov_b64 s[10:11], exec
  v_cmp_ne_u32 vcc, 1, v1
  s_and_saveexec_b64 s[8:9], vcc
  s_cbranch_execz done
loop:
  v_and_b32 v3, 1, v1
  v_cmp_eq_u32 vcc, 1, v3
  v_lshrrev_b32 v4, 1, v1
  v_mul_lo_u32 v5, v1, 3
  v_add_u32 v5, 1, v5
  v_cndmask_b32 v1, v4, v5, vcc
  v_add_u32 v2, 1, v2
  v_cmp_ne_u32 vcc, 1, v1
  s_and_b64 exec, exec, vcc
  s_cbranch_execnz loop
done:
  s_mov_b64 exec, s[10:11]
  v_lshlrev_b32 v6, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v6, v2, s[4:5]
)";
  device.run({.body = body}, {}, {out.address()});
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t steps = 0;
    for (std::uint32_t n = i + 1; n != 1; n = n % 2 != 0 ? 3 * n + 1 : n / 2) ++steps;
    REQUIRE(out[i] == steps);
  }
}

TEST_CASE("waves of a workgroup hand a token on through barriers") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(1);
  // Wave w adds w + 1 to an LDS word in round w of eight; the last round stores it.
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshrrev_b32 v1, 6, v0
  v_readfirstlane_b32 s6, v1
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  ds_write_b32 v2, v3
  s_mov_b32 s7, 0
round:
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_cmp_lg_u32 s6, s7
  s_cbranch_scc1 next
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  s_mul_i32 s8, s7, 10
  v_mul_lo_u32 v3, v3, 3
  v_add_u32 v3, s7, v3
  ds_write_b32 v2, v3
next:
  s_add_u32 s7, s7, 1
  s_cmp_lt_u32 s7, 8
  s_cbranch_scc1 round
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, 0
  global_store_dword v4, v3, s[4:5]
)";
  device.run({.body = body, .lds_bytes = 64}, {.block = {512, 1, 1}}, {out.address()});
  std::uint32_t want = 0;
  for (std::uint32_t w = 0; w < 8; ++w) want = want * 3 + w;
  CHECK(out[0] == want);
}

// Workgroup n waits for pair n of a mailbox to bear the tag 1, then puts value + n and the tag into pair n + 1.
constexpr const char* kMailboxChain = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_lshl_b32 s6, s2, 3
  v_mov_b32 v1, s6
  s_waitcnt lgkmcnt(0)
poll:
  global_load_dwordx2 v[2:3], v1, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32 vcc, 1, v3
  s_cbranch_vccz ready
  s_sleep 1
  s_branch poll
ready:
  v_add_u32 v2, s2, v2
  v_cmp_eq_u32 vcc, 0, v0
  s_and_saveexec_b64 s[8:9], vcc
  global_store_dwordx2 v1, v[2:3], s[4:5] offset:8 sc1
)";

TEST_CASE("256 persistent workgroups pass a value through mailboxes, in any order and with any number of threads") {
  constexpr std::uint32_t kGroups = 256;
  const auto [threads, seed] = GENERATE(std::pair<u32, u64>{1, 0}, std::pair<u32, u64>{1, kSeed},
                                        std::pair<u32, u64>{3, 0}, std::pair<u32, u64>{2, kSeed});
  Device device(with(threads, seed));
  const auto mail = device.allocate<std::uint64_t>(kGroups + 1);
  mail.data[0] = std::uint64_t{1} << 32 | 5;
  device.run({.body = kMailboxChain}, {.grid = {kGroups, 1, 1}, .block = {512, 1, 1}, .cooperative = true},
             {mail.address()});
  CHECK(mail[kGroups] == (std::uint64_t{1} << 32 | (5 + kGroups * (kGroups - 1) / 2)));
}

TEST_CASE("workgroups beyond what the chip holds start when others end") {
  constexpr std::uint32_t kGroups = 2000;
  Device device;
  const auto counter = device.allocate<std::uint32_t>(1);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v2, s[4:5]
)";
  device.run({.body = body, .lds_bytes = 160 * 1024}, {.grid = {kGroups, 1, 1}}, {counter.address()});
  CHECK(counter[0] == kGroups * 64);
}

TEST_CASE("work-item ids of three dimensions arrive packed, and a last wave is partial") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(100 * 6);
  const char* const body = R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_and_b32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_bfe_u32 v3, v0, 20, 10
  v_mul_u32_u24 v4, 5, v2
  v_add_u32 v4, v4, v1
  v_mul_u32_u24 v5, 20, v3
  v_add_u32 v4, v4, v5
  s_mul_i32 s8, s3, 2
  s_add_u32 s8, s8, s2
  s_mul_i32 s8, s8, 100
  v_add_u32 v4, s8, v4
  v_lshlrev_b32 v4, 2, v4
  s_waitcnt lgkmcnt(0)
  global_store_dword v4, v0, s[6:7]
)";
  device.run({.body = body, .work_item_dimensions = 3}, {.grid = {2, 3, 1}, .block = {5, 4, 5}}, {out.address()});
  for (std::uint32_t i = 0; i < out.count; ++i) {
    const std::uint32_t item = i % 100;
    REQUIRE(out[i] == (item % 5 | (item / 5 % 4) << 10 | (item / 20) << 20));
  }
}

TEST_CASE("a kernel calls a function through a register and returns") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(1);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 4
  s_getpc_b64 s[6:7]
here:
  s_add_u32 s6, s6, square-here
  s_addc_u32 s7, s7, 0
  s_swappc_b64 s[30:31], s[6:7]
  s_swappc_b64 s[30:31], s[6:7]
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[4:5]
  s_endpgm
square:
  v_mul_lo_u32 v1, v1, v1
  s_setpc_b64 s[30:31]
)";
  device.run({.body = body}, {.block = {1, 1, 1}}, {out.address()});
  CHECK(out[0] == 256);
}

TEST_CASE("private memory belongs to each lane") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(64);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mul_lo_u32 v1, v0, 7
  scratch_store_dword off, v1, off offset:4
  v_mov_b32 v2, 4
  s_waitcnt vmcnt(0)
  s_mov_b64 s[6:7], src_private_base
  v_mov_b32 v5, s7
  v_mov_b32 v4, v2
  flat_load_dword v3, v[4:5]
  v_lshlrev_b32 v6, 2, v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v6, v3, s[4:5]
)";
  device.run({.body = body, .scratch_bytes = 16}, {}, {out.address()});
  for (std::uint32_t i = 0; i < 64; ++i) REQUIRE(out[i] == 7 * i);
}

TEST_CASE("time goes on between two reads of the clock") {
  Device device;
  const auto out = device.allocate<std::uint64_t>(2);
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_memrealtime s[6:7]
  s_sleep 1
  s_memrealtime s[8:9]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s6
  v_mov_b32 v3, s7
  v_mov_b32 v4, s8
  v_mov_b32 v5, s9
  v_mov_b32 v6, 0
  global_store_dwordx4 v6, v[2:5], s[4:5]
)";
  device.run({.body = body}, {.block = {1, 1, 1}}, {out.address()});
  CHECK(out[1] > out[0]);
}

TEST_CASE("a time limit inside a kernel ends its wait at once when nothing else can happen") {
  Device device;
  const auto out = device.allocate<std::uint32_t>(2);
  // Waits for a word that nobody writes, for at most ten seconds of the 100 MHz clock.
  const char* const body = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_memrealtime s[6:7]
  s_waitcnt lgkmcnt(0)
poll:
  global_load_dword v2, v1, s[4:5] sc1
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32 vcc, 0, v2
  s_cbranch_vccnz done
  s_memrealtime s[8:9]
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s10, s8, s6
  s_subb_u32 s11, s9, s7
  s_cmp_gt_u32 s10, 1000000000
  s_cbranch_scc1 late
  s_sleep 1
  s_branch poll
late:
  v_mov_b32 v3, 99
  global_store_dword v1, v3, s[4:5] offset:4
done:
)";
  device.run({.body = body}, {.block = {1, 1, 1}}, {out.address()});
  CHECK(out[1] == 99);
}

}  // namespace
}  // namespace monojit::emulator::test
