#include <cstring>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/hip/device_error.h"
#include "runtime/loaded_kernel.h"
#include "tests/runtime/fake_device.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::Message;
using tests::FakeDevice;
using tests::tiny_kernel;

std::vector<ArgumentValue> some_values() { return {nullptr, std::int32_t{5}, std::int64_t{6}, 7.0F}; }

TEST_CASE("A launch hands HIP the grid of the key, the packed arguments and the caller's stream") {
  const FakeDevice fake;
  const LoadedKernel kernel(fake.device(), tiny_kernel(200));
  auto* const stream = reinterpret_cast<hipStream_t>(0x1234);
  kernel.launch(some_values(), stream);
  CHECK(fake.hip.launches == 1);
  CHECK(fake.hip.grid == 200);
  CHECK(fake.hip.workgroup_size == 64);
  CHECK(fake.hip.stream == stream);
  CHECK(fake.hip.kernarg_bytes == 28);
  std::int32_t count = 0;
  std::memcpy(&count, fake.hip.kernarg.data() + 8, sizeof count);
  CHECK(count == 5);
}

TEST_CASE("A persistent kernel that the device can't hold as a whole is refused with the numbers") {
  const FakeDevice fake;
  fake.hip.compute_units = 128;
  fake.hip.workgroups_per_unit = 1;
  CHECK_NOTHROW(LoadedKernel(fake.device(), tiny_kernel(128)));
  CHECK_THROWS_MATCHES(
      LoadedKernel(fake.device(), tiny_kernel(129)), UserError,
      Message("tests.tiny{workgroups=129} can't run on hip:0 (gfx950): its 129 workgroups of 64 threads wait on "
              "each other, but only 128 are resident at once (1 a CU, 128 CUs)"));
}

TEST_CASE("A kernel of another arch is refused before it is loaded") {
  const FakeDevice fake;
  fake.hip.arch = "gfx942";
  CHECK_THROWS_MATCHES(
      LoadedKernel(fake.device(), tiny_kernel(1)), UserError,
      Message("tests.tiny{workgroups=1} was built for gfx950, but hip:0 is a gfx942: choose a device of that "
              "arch, or build for this one"));
  CHECK(fake.hip.loads == 0);
}

TEST_CASE("A module is unloaded with its kernel, and a failing load or launch names the HIP function") {
  const FakeDevice fake;
  {
    const LoadedKernel kernel(fake.device(), tiny_kernel(1));
  }
  CHECK(fake.hip.loads == 1);
  CHECK(fake.hip.unloads == 1);
  const LoadedKernel kernel(fake.device(), tiny_kernel(1));
  fake.hip.failing = "hipModuleLaunchKernel";
  CHECK_THROWS_MATCHES(kernel.launch(some_values(), nullptr), DeviceError,
                       Message("hipModuleLaunchKernel failed: hipErrorInvalidValue (1): invalid argument"));
  fake.hip.failing = "hipModuleLoadData";
  CHECK_THROWS_AS(LoadedKernel(fake.device(), tiny_kernel(1)), DeviceError);
}

}  // namespace
}  // namespace monojit::runtime
