#pragma once

#include <memory>

#include "runtime/hip/device.h"
#include "tests/runtime/fake_hip.h"

namespace monojit::tests {

/// The fake HIP library, in its first state again.
struct FakeDevice {
  std::shared_ptr<const runtime::HipTable> table =
      runtime::HipTable::open_file(MONOJIT_FAKE_HIP, runtime::Provider::kHip);
  FakeHip& hip = *reinterpret_cast<FakeHipFunction*>(table->optional_symbol("fakeHip"))();

  FakeDevice() { hip = FakeHip{}; }
  runtime::Device device() const { return runtime::Device::at(table, 0); }
};

}  // namespace monojit::tests
