#include <array>
#include <cstdint>
#include <vector>

#include "runtime/fail_stop.h"
#include "runtime/group_step.h"
#include "tools/bench/benchmarks.h"
#include "tools/bench/noop_hip.h"

namespace monojit::tools {
namespace {

constexpr std::int32_t kSlot = 129;

/// Arguments of a launch; the group's own are filled in by it.
runtime::ArgumentValues some_arguments(const kernels::Family& family) {
  runtime::ArgumentValues values(family);
  for (const kernels::Argument& argument : family.arguments) {
    if (argument.type == kernels::ArgumentType::kPointer) {
      values.set(argument.name, nullptr);
    } else {
      values.set(argument.name, kSlot);
    }
  }
  return values;
}

/// What an engine's thread of one rank does each step: replay, and look for a failure of an earlier one.
void group_step(benchmark::State& state) {
  const kernels::BuildKey key = k2_build_key(8);
  const kernels::PeerState peer_state = key.family().peer_state(key);
  const auto hip = noop_hip();
  std::vector<runtime::Device> devices;
  for (int rank = 0; rank < peer_state.ranks; ++rank) devices.push_back(runtime::Device::at(hip, rank));
  const auto group = runtime::PeerGroup::in_process(devices, peer_state);
  runtime::Jit jit({});
  runtime::GroupStep step(group);
  step.prepare(jit, std::array{key});
  runtime::GroupLayer layer{.key = key, .arguments = {}};
  for (int rank = 0; rank < peer_state.ranks; ++rank) layer.arguments.push_back(some_arguments(key.family()));
  step.capture(std::array{layer});
  runtime::FailStop watch(group.ranks().front(), {{key, kSlot}});
  while (state.KeepRunning()) {
    step.launch(0, step.stream(0));
    benchmark::DoNotOptimize(watch.watch(step.stream(0)));
  }
}

}  // namespace

void register_group_benchmarks() {
  benchmark::RegisterBenchmark("launch.group_step", group_step)->Unit(benchmark::kNanosecond);
}

}  // namespace monojit::tools
