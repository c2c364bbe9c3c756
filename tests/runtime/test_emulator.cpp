#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/device_error.h"
#include "runtime/hip/emulator_extras.h"
#include "runtime/hip/module.h"
#include "runtime/hip/stream.h"
#include "tests/runtime/fake_device.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

Device emulator() {
  return Device::open("emulator", [](std::string_view) {});
}

TEST_CASE("The emulator is a device like any other") {
  const Device device = emulator();
  CHECK(device.text() == "emulator:0");
  CHECK(device.emulated());
  CHECK((device.arch() == "gfx950" || device.arch() == "gfx942"));
  CHECK(device.compute_units() >= 256);
  CHECK_THAT(emulator_description(device.hip()), ContainsSubstring(device.arch()));
  CHECK_THAT(emulator_description(device.hip()), ContainsSubstring(emulator_matrix_model(device.hip())));
  CHECK(!emulator_matrix_model(device.hip()).empty());
  CHECK_THROWS_MATCHES(Device::open("emulator:9", [](std::string_view) {}), UserError,
                       MessageMatches(ContainsSubstring("device emulator:9 is not there")));
}

TEST_CASE("The emulator's memory keeps what it is given") {
  const std::string text = "some bytes";
  const DeviceBuffer buffer(emulator(), std::as_bytes(std::span(text)));
  std::string back(text.size(), ' ');
  buffer.download(std::as_writable_bytes(std::span(back)));
  CHECK(back == text);
}

TEST_CASE("The emulator says why it does not take a code object") {
  const Device device = emulator();
  const std::vector<std::byte> garbage(4096, std::byte{0x7F});
  try {
    const Module module(device, garbage);
    FAIL("garbage was loaded");
  } catch (const DeviceError& error) {
    CHECK(error.call() == "hipModuleLoadData");
    CHECK(!error.detail().empty());
  }
}

TEST_CASE("An idle stream of the emulator is soon done, and nothing was executed") {
  const Device device = emulator();
  const Stream stream(device);
  CHECK_NOTHROW(stream.synchronize());
  const auto counts = emulator_counts(device.hip());
  REQUIRE(counts.has_value());
  CHECK(counts.value().wave_instructions == 0);
}

TEST_CASE("Other providers have no emulator's counters") {
  const tests::FakeDevice fake;
  CHECK(!emulator_counts(*fake.table).has_value());
  CHECK(emulator_description(*fake.table).empty());
  CHECK(emulator_matrix_model(*fake.table).empty());
}

}  // namespace
}  // namespace monojit::runtime
