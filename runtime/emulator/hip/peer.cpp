// HIP: access between the devices of this process.
#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::checked_device;
using monojit::emulator::current_device;
using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::remember_error;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::u32;

namespace {

/// Returns whether that changed anything.
bool set_peer_access(int peer, bool enabled) {
  const u32 device = current_device();
  const u32 other = checked_device(peer);
  if (other == device) throw Failure(FailureKind::kInvalidValue, fmt::format("device {} is no peer of itself", device));
  return Runtime::get().allocations().set_peer_access(device, other, enabled);
}

}  // namespace

extern "C" {

hipError_t hipDeviceCanAccessPeer(int* possible, int device, int peer) {
  return guarded([&] {
    require(possible, "possible");
    *possible = checked_device(device) == checked_device(peer) ? 0 : 1;
  });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int) {
  bool changed = true;
  const hipError_t error = guarded([&] { changed = set_peer_access(peer, true); });
  if (error != hipSuccess || changed) return error;
  return remember_error(hipErrorPeerAccessAlreadyEnabled,
                        fmt::format("peer access to device {}: enabled already", peer));
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  bool changed = true;
  const hipError_t error = guarded([&] { changed = set_peer_access(peer, false); });
  if (error != hipSuccess || changed) return error;
  return remember_error(hipErrorPeerAccessNotEnabled, fmt::format("peer access to device {}: not enabled", peer));
}

}  // extern "C"
