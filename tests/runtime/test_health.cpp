#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/health.h"
#include "runtime/health.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/device_error.h"
#include "tests/runtime/fake_device.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

using tests::FakeDevice;

constexpr std::int64_t kOffset = 64;  // of the health words in `data`
constexpr int kWorkgroups = 3;
constexpr std::string_view kRegions[] = {"mail", "flags"};

std::optional<kernels::HealthWords> words_in_data(const kernels::BuildKey& /*key*/) {
  return kernels::HealthWords{.argument = "data", .offset = kOffset, .regions = kRegions};
}

std::optional<kernels::HealthWords> unbounded(const kernels::BuildKey& /*key*/) { return std::nullopt; }

/// The tiny kernel with health words.
LoadedKernel guarded_kernel(const FakeDevice& fake,
                            std::optional<kernels::HealthWords> (*health)(const kernels::BuildKey&) = words_in_data) {
  static kernels::Family family = tests::kTiny;
  family.health = health;
  const auto key = kernels::BuildKey::from_values(family, {{"workgroups", kWorkgroups}});
  return {fake.device(), tests::hollow_kernel(key)};
}

/// Memory for `data`, all zero but for what a kernel might have left.
struct Memory {
  explicit Memory(const FakeDevice& fake)
      : buffer(fake.device(), std::vector<std::byte>(kOffset + kernels::health_bytes(kWorkgroups))) {}
  std::uint32_t& word(std::size_t index) const {
    return reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(buffer.address()) + kOffset)[index];
  }
  std::vector<ArgumentValue> values() const { return {buffer.address(), std::int32_t{5}, std::int64_t{6}, 7.0F}; }
  DeviceBuffer buffer;
};

TEST_CASE("A kernel whose waits all ended is healthy, whatever lies around its words") {
  const FakeDevice fake;
  const Memory memory(fake);
  *static_cast<std::uint32_t*>(memory.buffer.address()) = 1;  // before the offset
  CHECK(poll_health(guarded_kernel(fake), memory.values()) == std::nullopt);
}

TEST_CASE("A wait that gave up is told in words until the record is cleared") {
  const FakeDevice fake;
  const Memory memory(fake);
  const LoadedKernel kernel = guarded_kernel(fake);
  memory.word(0) = 1;
  const std::uint32_t record[] = {1, kernels::region_id("flags"), 17, 0x85, 0x84, 2, 1234, 0};
  for (std::size_t i = 0; i < std::size(record); ++i) memory.word(3 * kernels::kHealthRecordWords + i) = record[i];
  CHECK(poll_health(kernel, memory.values()) ==
        "workgroup 2 waited more than 10 s for pair 17 of flags: expected tag 0x85, saw 0x84");
  CHECK(poll_health(kernel, memory.values()).has_value());
  clear_health(kernel, memory.values());
  CHECK(poll_health(kernel, memory.values()) == std::nullopt);
}

TEST_CASE("Health words that were never zeroed are told apart from records, in one line") {
  const FakeDevice fake;
  const Memory memory(fake);
  constexpr std::size_t kWords = kernels::health_bytes(kWorkgroups) / sizeof(std::uint32_t);
  for (std::size_t i = 0; i < kWords; ++i) memory.word(i) = 0xFFFFFFFF;
  CHECK(poll_health(guarded_kernel(fake), memory.values()) ==
        "3 of 3 health records hold what no kernel leaves there (word 0 is 0xffffffff): were they zeroed?");
}

TEST_CASE("A build with unbounded waits has no record to read or clear") {
  const FakeDevice fake;
  const Memory memory(fake);
  memory.word(0) = 1;
  const LoadedKernel kernel = guarded_kernel(fake, unbounded);
  CHECK(poll_health(kernel, memory.values()) == std::nullopt);
  clear_health(kernel, memory.values());
  CHECK(memory.word(0) == 1);
  CHECK(poll_health(guarded_kernel(fake, nullptr), memory.values()) == std::nullopt);
}

TEST_CASE("A record that can't be read is the device's error") {
  const FakeDevice fake;
  const Memory memory(fake);
  const LoadedKernel kernel = guarded_kernel(fake);
  fake.hip.failing = "hipMemcpy";
  CHECK_THROWS_AS(poll_health(kernel, memory.values()), DeviceError);
}

}  // namespace
}  // namespace monojit::runtime
