#include <vector>

#include "cache/digest.h"
#include "runtime/hollow_image.h"
#include "runtime/loaded_kernel.h"
#include "tools/bench/benchmarks.h"
#include "tools/bench/noop_hip.h"

namespace monojit::tools {
namespace {

using runtime::ArgumentValue;

/// A kernel of the key that was never built: packing needs its argument list alone.
std::shared_ptr<const runtime::CompiledKernel> unbuilt(const kernels::BuildKey& key) {
  runtime::KernelRecord record;
  std::uint32_t offset = 0;
  for (const kernels::Argument& argument : key.family().arguments) {
    const std::uint32_t size = kernels::argument_bytes(argument.type);
    offset = (offset + size - 1) / size * size;
    record.arguments.push_back({std::string(argument.name), offset, size});
    offset += size;
  }
  record.kernarg_bytes = offset;
  record.symbol = key.symbol();
  record.ir_digest = cache::hex({});
  return std::make_shared<const runtime::CompiledKernel>(runtime::CompiledKernel{
      key, kBenchArch, record,
      std::make_shared<const std::vector<std::byte>>(runtime::hollow_image(kBenchArch, record))});
}

std::vector<ArgumentValue> some_values(const kernels::Family& family) {
  std::vector<ArgumentValue> values;
  for (const kernels::Argument& argument : family.arguments) {
    switch (argument.type) {
      case kernels::ArgumentType::kPointer:
        values.emplace_back(&family);
        break;
      case kernels::ArgumentType::kInt32:
        values.emplace_back(std::int32_t{1});
        break;
      case kernels::ArgumentType::kInt64:
        values.emplace_back(std::int64_t{1});
        break;
      case kernels::ArgumentType::kFloat32:
        values.emplace_back(1.0F);
        break;
    }
  }
  return values;
}

void pack(benchmark::State& state, const kernels::BuildKey& key) {
  const runtime::LoadedKernel kernel(runtime::Device::at(noop_hip(), 0), unbuilt(key));
  const std::vector<ArgumentValue> values = some_values(key.family());
  while (state.KeepRunning()) kernel.launch(values, nullptr);
}

}  // namespace

void register_launch_benchmarks() {
  benchmark::RegisterBenchmark("launch.pack", pack, k1_key(1))->Unit(benchmark::kNanosecond);
  benchmark::RegisterBenchmark("launch.pack.kimi_k3.k2", pack, k2_build_key(8))->Unit(benchmark::kNanosecond);
}

}  // namespace monojit::tools
