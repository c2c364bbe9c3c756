#include "tests/emulator/lane_program.h"

#include <fmt/format.h>

namespace monojit::emulator::test {

LaneResult run_lanes(const LaneProgram& program) {
  Device device(program.settings);
  const auto data = device.upload(program.data);
  const auto out = device.allocate<std::uint32_t>(256);
  const std::string body =
      fmt::format(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[12:13], s[0:1], 0x10
  v_mul_u32_u24 v1, {0}, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s8, s4
  s_or_b32 s9, s5, {1:#x}
  s_mov_b32 s10, {2:#x}
  s_mov_b32 s11, {3:#x}
  v_mov_b32 v3, s5
  v_add_co_u32 v2, vcc, s4, v1
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  v_mov_b32 v4, {4:#x}
  v_mov_b32 v5, {4:#x}
  v_mov_b32 v6, {4:#x}
  v_mov_b32 v7, {4:#x}
  v_mov_b32 v30, 0
  v_mov_b32 v31, 0
  s_mov_b64 exec, s[12:13]
  {5}
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b64 exec, -1
  v_lshlrev_b32 v0, 4, v0
  global_store_dwordx4 v0, v[4:7], s[6:7]
)",
                  program.pitch, program.stride << 16, program.records, program.flags, kUntouched, program.body);
  const LaunchReport report = device.run({.body = body,
                                          .lds_bytes = program.lds_bytes,
                                          .scratch_bytes = program.scratch_bytes,
                                          .denormals = program.denormals},
                                         {}, {data.address(), out.address(), program.exec});
  return {{out.data, out.data + out.count}, {data.data, data.data + data.count}, report};
}

std::string failure_text(const LaneProgram& program) {
  try {
    run_lanes(program);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing failed";
}

}  // namespace monojit::emulator::test
