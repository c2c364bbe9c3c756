// What a device says about itself.
#pragma once

#include <string>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/chip.h"

namespace monojit::emulator {

/// All properties of emulated device number `device`. What only graphics has (textures, surfaces) is zero.
[[nodiscard]] hipDeviceProp_tR0600 device_properties(const ChipLimits& chip, u32 device);

/// One attribute. Throws HipError (hipErrorInvalidValue) for one that no device has.
[[nodiscard]] int device_attribute(hipDeviceAttribute_t attribute, const ChipLimits& chip, u32 device);

/// "0000:05:00.0".
[[nodiscard]] std::string pci_bus_id(u32 device);

}  // namespace monojit::emulator
