#include "runtime/health.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/health.h"

namespace monojit::runtime {
namespace {

std::optional<kernels::HealthWords> words_of(const LoadedKernel& kernel) {
  const kernels::BuildKey& key = kernel.kernel().key;
  const kernels::Family& family = key.family();
  return family.health == nullptr ? std::nullopt : family.health(key);
}

void* address_of(const LoadedKernel& kernel, const kernels::HealthWords& words, std::span<const ArgumentValue> values) {
  const std::uint64_t base = values[kernel.arguments().index(words.argument)].bits();
  return std::bit_cast<void*>(base + static_cast<std::uint64_t>(words.offset));
}

std::size_t bytes_of(const LoadedKernel& kernel) {
  return static_cast<std::size_t>(kernels::health_bytes(kernel.shape().workgroups));
}

}  // namespace

std::optional<std::string> poll_health(const LoadedKernel& kernel, std::span<const ArgumentValue> values) {
  const auto words = words_of(kernel);
  if (!words) return std::nullopt;
  const HipTable& hip = kernel.device().hip();
  const void* const address = address_of(kernel, *words, values);
  std::vector<std::uint32_t> record(bytes_of(kernel) / sizeof(std::uint32_t));
  const auto read = [&](std::size_t bytes) {
    hip.check(hip.hipMemcpy(record.data(), address, bytes, hipMemcpyDeviceToHost), "hipMemcpy");
  };
  read(sizeof(std::uint32_t));  // all that there is to read after a launch that went well
  if (record[0] == 0) return std::nullopt;
  read(bytes_of(kernel));
  const kernels::BuildKey& key = kernel.kernel().key;
  kernels::DescribePair describe;
  if (words->describe != nullptr) {
    describe = [&](std::string_view region, std::uint32_t pair) { return words->describe(key, region, pair); };
  }
  return kernels::explain_health(record, static_cast<int>(kernel.shape().workgroups), words->regions, describe);
}

void clear_health(const LoadedKernel& kernel, std::span<const ArgumentValue> values) {
  const auto words = words_of(kernel);
  if (!words) return;
  const HipTable& hip = kernel.device().hip();
  hip.check(hip.hipMemset(address_of(kernel, *words, values), 0, bytes_of(kernel)), "hipMemset");
}

}  // namespace monojit::runtime
