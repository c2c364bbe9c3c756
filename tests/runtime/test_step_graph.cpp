#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/hip/device_error.h"
#include "runtime/step_graph.h"
#include "tests/runtime/fake_device.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using tests::FakeDevice;

StepLaunch tiny_launch(const Device& device) {
  return {std::make_shared<const LoadedKernel>(device, tests::tiny_kernel(1)),
          {nullptr, std::int32_t{5}, std::int64_t{6}, 7.0F}};
}

TEST_CASE("A step launches each kernel once while it is captured, and none when it is replayed") {
  const FakeDevice fake;
  const std::vector<StepLaunch> launches(3, tiny_launch(fake.device()));
  const StepGraph step(fake.device(), launches);
  CHECK(fake.hip.launches == 3);
  step.launch(nullptr);
  step.launch(nullptr);
  CHECK(fake.hip.launches == 3);
  CHECK(fake.hip.replays == 2);
}

TEST_CASE("A step keeps its kernels loaded") {
  const FakeDevice fake;
  {
    std::vector<StepLaunch> launches = {tiny_launch(fake.device())};
    const StepGraph step(fake.device(), launches);
    launches.clear();
    CHECK(fake.hip.unloads == 0);
  }
  CHECK(fake.hip.unloads == 1);
}

TEST_CASE("A step with values that a kernel doesn't take, or a capture that fails, leaves no graph behind") {
  const FakeDevice fake;
  StepLaunch wrong = tiny_launch(fake.device());
  wrong.values.pop_back();
  CHECK_THROWS_WITH(StepGraph(fake.device(), {&wrong, 1}), "tests.tiny takes 4 arguments, not 3");
  CHECK(fake.hip.graphs == 0);
  const StepLaunch launch = tiny_launch(fake.device());
  fake.hip.failing = "hipGraphInstantiateWithFlags";
  CHECK_THROWS_WITH(StepGraph(fake.device(), {&launch, 1}), ContainsSubstring("hipGraphInstantiateWithFlags failed"));
  CHECK(fake.hip.graphs == 0);
}

}  // namespace
}  // namespace monojit::runtime
