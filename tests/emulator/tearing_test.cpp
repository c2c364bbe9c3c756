// Accesses of 8 and 16 bytes against a neighbour on another host thread: a reader never sees a half of 8 bytes that two
// stores wrote. Mailboxes of a value and a tag rely on it.
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"
#include "tests/emulator/numerics_lanes.h"

namespace monojit::emulator::test {
namespace {

constexpr u32 kSteps = 30'000;    // of either side; torn words show within some hundred
constexpr u32 kResultsAt = 2048;  // bytes

/// A store of the counter v[4:7] and a load to v[8:11], of `words` words.
struct Form {
  const char* name;
  u32 words;
  const char* store;
  const char* load;
};

// v1 is lane * 16, v[2:3] the address of the lane's 16 bytes, s[4:5] the buffer, s[8:11] a descriptor over it that lets
// the lower lanes through, s[12:15] one that cuts the last lane's bytes.
const Form kForms[] = {
    {"global x2", 2, "global_store_dwordx2 v1, v[4:5], s[4:5]", "global_load_dwordx2 v[8:9], v1, s[4:5]"},
    {"global x4", 4, "global_store_dwordx4 v1, v[4:7], s[4:5]", "global_load_dwordx4 v[8:11], v1, s[4:5]"},
    {"global x3", 3, "global_store_dwordx3 v1, v[4:6], s[4:5]", "global_load_dwordx3 v[8:10], v1, s[4:5]"},
    {"flat x2", 2, "flat_store_dwordx2 v[2:3], v[4:5]", "flat_load_dwordx2 v[8:9], v[2:3]"},
    {"flat x4", 4, "flat_store_dwordx4 v[2:3], v[4:7]", "flat_load_dwordx4 v[8:11], v[2:3]"},
    {"buffer x2", 2, "buffer_store_dwordx2 v[4:5], v1, s[8:11], 0 offen",
     "buffer_load_dwordx2 v[8:9], v1, s[8:11], 0 offen"},
    {"buffer x4", 4, "buffer_store_dwordx4 v[4:7], v1, s[8:11], 0 offen",
     "buffer_load_dwordx4 v[8:11], v1, s[8:11], 0 offen"},
    {"buffer x4, out of range", 4, "buffer_store_dwordx4 v[4:7], v1, s[12:15], 0 offen",
     "buffer_load_dwordx4 v[8:11], v1, s[12:15], 0 offen"},
    {"buffer x2, out of range", 2, "buffer_store_dwordx2 v[4:5], v1, s[12:15], 0 offen",
     "buffer_load_dwordx2 v[8:9], v1, s[12:15], 0 offen"},
    {"global to LDS", 4, "global_store_dwordx4 v1, v[4:7], s[4:5]",
     "global_load_lds_dwordx4 v1, s[4:5]\n s_waitcnt vmcnt(0)\n ds_read_b128 v[8:11], v1"},
    {"buffer to LDS", 4, "global_store_dwordx4 v1, v[4:7], s[4:5]",
     "buffer_load_dwordx4 v1, s[8:11], 0 offen lds\n s_waitcnt vmcnt(0)\n ds_read_b128 v[8:11], v1"},
    {"scalar x2", 2, "global_store_dwordx2 v1, v[4:5], s[4:5]",
     "s_dcache_inv\n s_load_dwordx2 s[16:17], s[4:5], 0\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v8, s16\n v_mov_b32 v9, "
     "s17"},
    {"scalar x4", 4, "global_store_dwordx4 v1, v[4:7], s[4:5]",
     "s_dcache_inv\n s_load_dwordx4 s[16:19], s[4:5], 0\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v8, s16\n v_mov_b32 v9, "
     "s17\n"
     "v_mov_b32 v10, s18\n v_mov_b32 v11, s19"},
};

// Workgroup 0 counts in the buffer, workgroup 1 reads; the lanes' differences between words of a half go behind.
KernelText counting(const Form& form, u64 lanes) {
  const std::string second_half = form.words == 4 ? "v_xor_b32 v12, v10, v11\n v_or_b32 v13, v13, v12" : "";
  return {.name = "counting",
          .body = fmt::format(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v13, 0
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v3, s5
  v_add_co_u32 v2, vcc, s4, v1
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  s_mov_b64 s[8:9], s[4:5]
  s_movk_i32 s10, 0x400
  s_mov_b32 s11, 0x27000
  s_mov_b64 s[12:13], s[4:5]
  s_movk_i32 s14, 0x1f8
  s_mov_b32 s15, 0x27000
  s_mov_b32 s20, {steps}
  s_mov_b32 exec_lo, {low:#x}
  s_mov_b32 exec_hi, {high:#x}
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 read
write:
  v_mov_b32 v4, s20
  v_mov_b32 v5, s20
  v_mov_b32 v6, s20
  v_mov_b32 v7, s20
  {store}
  s_sub_u32 s20, s20, 1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 write
  s_endpgm
read:
  {load}
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_xor_b32 v12, v8, v9
  v_or_b32 v13, v13, v12
  {second_half}
  s_sub_u32 s20, s20, 1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 read
  v_lshlrev_b32 v1, 2, v0
  global_store_dword v1, v13, s[4:5] offset:{results}
)",
                              fmt::arg("steps", kSteps), fmt::arg("results", kResultsAt),
                              fmt::arg("low", static_cast<u32>(lanes)), fmt::arg("high", static_cast<u32>(lanes >> 32)),
                              fmt::arg("store", form.store), fmt::arg("load", form.load),
                              fmt::arg("second_half", second_half)),
          .lds_bytes = 1024};
}

void run_both(const Form& form, u64 lanes, HostIsa isa) {
  CAPTURE(form.name, lanes, isa);
  Settings settings;
  settings.threads = 2;
  settings.host_isa = isa;
  Device device(settings, isa);
  const auto buffer = device.allocate<u32>(1024);
  device.run(counting(form, lanes), {.grid = {2, 1, 1}}, {buffer.address()});
  for (u32 lane = 0; lane < 64; ++lane) CHECK(buffer[kResultsAt / 4 + lane] == 0);
}

TEST_CASE("accesses of 8 and 16 bytes never tear, however many lanes make them") {
  for (const HostIsa isa : numerics_test::host_isas())
    for (const Form& form : kForms)
      for (const u64 lanes : {u64{1}, u64{0x1000}, u64{0xFFFFF}, u64{0xFFFFFFFFFF}, ~u64{0}})
        run_both(form, lanes, isa);
}

}  // namespace
}  // namespace monojit::emulator::test
