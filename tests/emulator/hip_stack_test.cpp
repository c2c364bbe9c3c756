// HIP: the stack of kernels whose need the compiler can't tell.
#include <fmt/format.h>

#include "tests/emulator/hip_fixture.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint32_t kFixedBytes = 32;
constexpr std::uint32_t kBytes = 1024;

/// out[lane] = a word that went through scratch at an offset. Argument: out.
KernelText through_scratch(std::uint32_t offset, bool dynamic_stack) {
  return {.name = "stack",
          .body = fmt::format(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_movk_i32 s6, {}
  scratch_store_dword off, v0, s6
  s_waitcnt vmcnt(0)
  scratch_load_dword v2, off, s6
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
)",
                              offset),
          .scratch_bytes = kFixedBytes,
          .dynamic_stack = dynamic_stack,
          .arguments = 1};
}

hipError_t run(std::uint32_t offset, bool dynamic_stack) {
  const LoadedKernel kernel(through_scratch(offset, dynamic_stack));
  void* out = nullptr;
  REQUIRE(hipMalloc(&out, 256) == hipSuccess);
  void* arguments[] = {&out};
  REQUIRE(kernel.launch(arguments) == hipSuccess);
  const hipError_t error = hipDeviceSynchronize();
  std::uint32_t words[64] = {};
  if (error == hipSuccess) {
    REQUIRE(hipMemcpy(words, out, sizeof words, hipMemcpyDeviceToHost) == hipSuccess);
    for (std::uint32_t lane = 0; lane < 64; ++lane) CHECK(words[lane] == lane);
  }
  CHECK(hipFree(out) == hipSuccess);
  return error;
}

TEST_CASE("a kernel with a dynamic stack gets what hipLimitStackSize says, others what they ask for") {
  std::size_t before = 0;
  REQUIRE(hipDeviceGetLimit(&before, hipLimitStackSize) == hipSuccess);
  REQUIRE(hipDeviceSetLimit(hipLimitStackSize, kBytes) == hipSuccess);
  CHECK(run(kFixedBytes - 4, false) == hipSuccess);
  CHECK(run(kFixedBytes, false) == hipErrorIllegalAddress);
  CHECK(run(kBytes - 4, true) == hipSuccess);
  CHECK(run(kBytes, true) == hipErrorIllegalAddress);
  CHECK_THAT(last_fault(), ContainsSubstring("a lane has 1024 bytes of scratch"));

  REQUIRE(hipDeviceSetLimit(hipLimitStackSize, 4 * kBytes) == hipSuccess);
  CHECK(run(4 * kBytes - 4, true) == hipSuccess);
  CHECK(run(4 * kBytes, true) == hipErrorIllegalAddress);
  REQUIRE(hipDeviceSetLimit(hipLimitStackSize, 16) == hipSuccess);
  CHECK(run(kFixedBytes, true) == hipErrorIllegalAddress);
  CHECK_THAT(last_fault(), ContainsSubstring("a lane has 32 bytes of scratch"));
  CHECK(run(kFixedBytes - 4, true) == hipSuccess);
  REQUIRE(hipDeviceSetLimit(hipLimitStackSize, before) == hipSuccess);
}

}  // namespace
}  // namespace monojit::emulator::test
