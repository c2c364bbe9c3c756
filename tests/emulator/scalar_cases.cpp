#include "tests/emulator/scalar_cases.h"

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint64_t kEdges[] = {0,
                               1,
                               2,
                               31,
                               0x7f,
                               0x80000000,
                               0x7fffffff,
                               0xffffffff,
                               0x1000c,
                               0x0f0f00f0,
                               0x80000000ffffffff,
                               0x7fffffffffffffff,
                               0x8000000000000000,
                               0xffffffffffffffff,
                               0x123456789abcdef0,
                               0x00400010};
constexpr uint64_t kExec = 0xff00ff000f0f1235;

}  // namespace

void check_scalar_cases(std::span<const ScalarCase> cases) {
  Device device;
  std::string body = "  s_load_dwordx8 s[0:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v1, 0\n";
  for (const ScalarCase& row : cases) {
    // s[0:1] a, s[2:3] b, s[4:5] output, s6 scc.
    body += fmt::format(R"(
  s_mov_b64 s[8:9], s[0:1]
  s_mov_b64 s[10:11], s[2:3]
  s_mov_b64 s[12:13], 0
  s_mov_b64 exec, {:#x}
  s_mov_b32 exec_hi, {:#x}
  s_cmp_lg_u32 s6, 0
  {}
  s_cselect_b32 s14, 1, 0
  s_mov_b64 exec, 1
  v_mov_b32 v2, s12
  v_mov_b32 v3, s13
  v_mov_b32 v4, s14
  global_store_dwordx3 v1, v[2:4], s[4:5]
  v_add_u32 v1, 16, v1
)",
                        kExec & 0xffffffff, kExec >> 32, row.text);
  }
  const auto out = device.allocate<uint64_t>(2 * cases.size());
  const Kernel& kernel = device.load(assemble({.body = body}), "kernel");
  for (const std::string& problem : kernel.program->problems) FAIL_CHECK(problem);
  for (const uint64_t a : kEdges) {
    for (const uint64_t b : kEdges) {
      for (const uint32_t scc : {0u, 1u}) {
        device.launch(kernel, {}, {a, b, out.address(), scc});
        for (std::size_t i = 0; i < cases.size(); ++i) {
          const ScalarOutcome want = cases[i].expected({a, b, scc, kExec});
          INFO(fmt::format("{}: a {:#x} b {:#x} scc {}: got {:#x} scc {}, want {:#x} scc {}", cases[i].text, a, b, scc,
                           out[2 * i], static_cast<uint32_t>(out[2 * i + 1]), want.value, want.scc));
          REQUIRE(out[2 * i] == want.value);
          REQUIRE(static_cast<uint32_t>(out[2 * i + 1]) == want.scc);
        }
      }
    }
  }
}

}  // namespace monojit::emulator::test
