#include <cstring>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/device_error.h"
#include "runtime/hip/stream.h"
#include "tests/runtime/fake_device.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using tests::FakeDevice;

void silent(std::string_view) {}

TEST_CASE("A device tells its arch without the feature flags, its CUs and its name") {
  const FakeDevice fake;
  fake.hip.compute_units = 128;
  const Device device = fake.device();
  CHECK(device.arch() == "gfx950");
  CHECK(device.compute_units() == 128);
  CHECK(device.name() == "Fake Instinct");
  CHECK(device.text() == "hip:0");
}

TEST_CASE("A device that is not there is refused with the number of those that are") {
  const FakeDevice fake;
  fake.hip.devices = 2;
  CHECK_THROWS_MATCHES(
      Device::at(fake.table, 2), UserError,
      MessageMatches(ContainsSubstring("device hip:2 is not there") && ContainsSubstring("has 2 devices")));
  fake.hip.devices = 0;
  CHECK_THROWS_MATCHES(Device::at(fake.table, 0), UserError, MessageMatches(ContainsSubstring("has 0 devices")));
}

TEST_CASE("A device text that is none is refused with the syntax") {
  CHECK_THROWS_MATCHES(Device::open("cuda:0", silent), UserError,
                       Message("unknown device 'cuda:0': use auto, hip, hip:N, emulator or emulator:N"));
  CHECK_THROWS_MATCHES(Device::open("hip:x", silent), UserError,
                       MessageMatches(ContainsSubstring("'x' is no device number")));
  CHECK_THROWS_AS(Device::open("hip:-1", silent), UserError);
  CHECK_THROWS_AS(Device::open("hip:", silent), UserError);
}

TEST_CASE("A failing HIP call is reported with its name, code and words") {
  const FakeDevice fake;
  const Device device = fake.device();
  fake.hip.failing = "hipMalloc";
  CHECK_THROWS_MATCHES(DeviceBuffer(device, 16), DeviceError,
                       Message("hipMalloc failed: hipErrorInvalidValue (1): invalid argument"));
}

TEST_CASE("What the emulator knows of a fault is part of the error") {
  const FakeDevice fake;
  const Stream stream(fake.device());
  fake.hip.failing = "hipStreamSynchronize";
  fake.hip.fault = "lane 3 read 4 bytes beyond 'ar'";
  try {
    stream.synchronize();
    FAIL("no error");
  } catch (const DeviceError& error) {
    CHECK(error.call() == "hipStreamSynchronize");
    CHECK(error.code() == hipErrorInvalidValue);
    CHECK(error.detail() == "lane 3 read 4 bytes beyond 'ar'");
    CHECK(std::string(error.what()).ends_with("\nlane 3 read 4 bytes beyond 'ar'"));
  }
}

TEST_CASE("An emulator that can't start is the user's error in the emulator's words, a GPU's is the device's") {
  const FakeDevice fake;
  const auto emulator = HipTable::open_file(MONOJIT_FAKE_HIP, Provider::kEmulator);  // the same library
  fake.hip.failing = "hipInit";
  fake.hip.fault = "MONOJIT_EMULATOR_CHIP=gfx1: not understood";
  CHECK_THROWS_MATCHES(device_count(*emulator), UserError, Message("MONOJIT_EMULATOR_CHIP=gfx1: not understood"));
  CHECK_THROWS_AS(device_count(*fake.table), DeviceError);
  fake.hip.fault = nullptr;
  CHECK_THROWS_MATCHES(device_count(*emulator), DeviceError,
                       Message("hipInit failed: hipErrorInvalidValue (1): invalid argument"));
}

TEST_CASE("A buffer holds what was copied to it and frees its memory once") {
  const FakeDevice fake;
  const Device device = fake.device();
  const std::string text = "sixteen bytes ok";
  {
    DeviceBuffer first(device, std::as_bytes(std::span(text)));
    const DeviceBuffer second = std::move(first);
    std::string back(text.size(), ' ');
    second.download(std::as_writable_bytes(std::span(back)));
    CHECK(back == text);
    CHECK(fake.hip.allocations == 1);
  }
  CHECK(fake.hip.allocations == 0);
}

TEST_CASE("An empty buffer is the null pointer") {
  const FakeDevice fake;
  CHECK(DeviceBuffer(fake.device(), 0).address() == nullptr);
  CHECK(fake.hip.allocations == 0);
}

}  // namespace
}  // namespace monojit::runtime
