// HIP: copies of one row.
#include <fmt/format.h>

#include "runtime/emulator/hip/copies.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::checked_device;
using monojit::emulator::copy_now;
using monojit::emulator::copy_queued;
using monojit::emulator::CopyWork;
using monojit::emulator::guarded;
using monojit::emulator::row_copy;

namespace {

hipError_t now(const char* call, void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
               hipStream_t stream = nullptr) {
  return guarded([&] { copy_now(call, row_copy(to, from, bytes, kind), stream); });
}

hipError_t queued(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return guarded([&] { copy_queued(row_copy(to, from, bytes, kind), stream); });
}

}  // namespace

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return now("hipMemcpy", to, from, bytes, kind);
}
hipError_t hipMemcpyWithStream(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return now("hipMemcpyWithStream", to, from, bytes, kind, stream);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, std::size_t bytes) {
  return now("hipMemcpyHtoD", to, from, bytes, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return now("hipMemcpyDtoH", to, from, bytes, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes) {
  return now("hipMemcpyDtoD", to, from, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return queued(to, from, bytes, kind, stream);
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, std::size_t bytes, hipStream_t stream) {
  return queued(to, from, bytes, hipMemcpyHostToDevice, stream);
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, std::size_t bytes, hipStream_t stream) {
  return queued(to, from, bytes, hipMemcpyDeviceToHost, stream);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes, hipStream_t stream) {
  return queued(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  return guarded([&] {
    static_cast<void>(checked_device(to_device));
    static_cast<void>(checked_device(from_device));
    copy_now("hipMemcpyPeer", row_copy(to, from, bytes, hipMemcpyDeviceToDevice), nullptr);
  });
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                              hipStream_t stream) {
  return guarded([&] {
    static_cast<void>(checked_device(to_device));
    static_cast<void>(checked_device(from_device));
    copy_queued(row_copy(to, from, bytes, hipMemcpyDeviceToDevice), stream);
  });
}

}  // extern "C"
