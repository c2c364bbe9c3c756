// Which workgroups are resident together, and where: wave slots, vector and scalar registers, LDS, XCDs.
#include "runtime/emulator/schedule/placement.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

struct Case {
  KernelDescriptor kernel;
  u32 work_items;
  u32 lds_bytes;
  u32 workgroups;
  std::string limit;
};

KernelDescriptor registers(u32 vgprs, u32 agprs = 0, u32 sgprs = 32) {
  KernelDescriptor kernel;
  kernel.vgprs = vgprs, kernel.agprs = agprs, kernel.sgprs = sgprs;
  return kernel;
}

TEST_CASE("each resource of a compute unit limits residency as on the chip") {
  const Case cases[] = {
      {registers(32), 64, 0, 32, "wave slots"},
      {registers(64), 512, 0, 4, "wave slots"},
      {registers(65), 512, 0, 3, "registers"},  // 72 of 512: seven waves a SIMD
      {registers(128), 64, 0, 16, "registers"},
      {registers(128, 128), 512, 0, 1, "registers"},
      {registers(256, 256), 256, 0, 1, "registers"},
      {registers(256, 256), 64, 0, 4, "registers"},
      {registers(64, 0, 96), 512, 0, 4, "wave slots"},
      {registers(64, 0, 112), 512, 0, 3, "scalar registers"},  // 800 / 112: seven waves a SIMD
      {registers(64, 0, 112), 64, 0, 28, "scalar registers"},
      {registers(32), 192, 0, 10, "wave slots"},  // 30 of 32 slots
      {registers(32), 64, 160 * 1024, 1, "LDS"},
      {registers(32), 64, 80 * 1024, 2, "LDS"},
      {registers(32), 64, 80 * 1024 + 1, 1, "LDS"},
      {registers(32), 64, 1281, 32, "wave slots"},
      {registers(256, 256), 512, 0, 0, "registers"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.kernel.vgprs, c.kernel.agprs, c.kernel.sgprs, c.work_items, c.lds_bytes);
    const Residency result = residency(c.kernel, c.work_items, c.lds_bytes, kMi355x);
    CHECK(result.workgroups_per_cu == c.workgroups);
    CHECK(result.limit == c.limit);
  }
  CHECK(residency(registers(32), 64, 64 * 1024, kMi300x).workgroups_per_cu == 1);
  CHECK(residency(registers(32), 64, 32 * 1024, kMi300x).workgroups_per_cu == 2);
}

TEST_CASE("the emptiest compute unit of an XCD is filled first, and what is given back is free again") {
  const Demand half = demand_of(registers(64), 1024, 0, kMi355x);
  const Demand full = demand_of(registers(64), 64, 160 * 1024, kMi355x);
  Placement placement(kMi355x);
  for (u32 cu = 0; cu < kMi355x.cus_per_xcd(); ++cu) CHECK(placement.take(3, half)->cu == cu);
  const auto second = placement.take(3, half);
  REQUIRE(second);
  CHECK(second->cu == 0);
  CHECK(second->xcd == 3);
  CHECK_FALSE(placement.take(3, demand_of(registers(512), 64, 0, kMi355x)));
  placement.give_back(*second, half);
  CHECK(placement.take(3, full)->cu == 0);  // LDS is untouched by the others
  CHECK(placement.take(4, full)->xcd == 4);
}

}  // namespace
}  // namespace monojit::emulator::test
