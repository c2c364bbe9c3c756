// HIP: memory filled with a repeated value.
#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::check_fill;
using monojit::emulator::FillWork;
using monojit::emulator::guarded;
using monojit::emulator::product_of;
using monojit::emulator::submit;
using monojit::emulator::submit_and_wait;
using monojit::emulator::u32;
using monojit::emulator::u8;

namespace {

/// `width` counts elements.
FillWork plane(void* to, std::size_t pitch, u32 value, u32 element_bytes, std::size_t width, std::size_t height) {
  return {.to = {.first = static_cast<u8*>(to), .pitch = pitch},
          .box = {.width = product_of(width, element_bytes), .height = height},
          .value = value,
          .element_bytes = element_bytes};
}

FillWork row(void* to, u32 value, u32 element_bytes, std::size_t count) {
  return plane(to, 0, value, element_bytes, count, 1);
}

FillWork box(const hipPitchedPtr& to, int value, const hipExtent& extent) {
  FillWork fill = plane(to.ptr, to.pitch, static_cast<u32>(value), 1, extent.width, extent.height);
  fill.box.depth = extent.depth;
  fill.to.slice = product_of(to.pitch, to.ysize);
  return fill;
}

hipError_t now(const char* call, const FillWork& fill) {
  return guarded([&] { check_fill(fill), submit_and_wait(call, nullptr, fill); });
}

hipError_t queued(const FillWork& fill, hipStream_t stream) {
  return guarded([&] { check_fill(fill), submit(stream, fill); });
}

}  // namespace

extern "C" {

hipError_t hipMemset(void* to, int value, std::size_t bytes) {
  return now("hipMemset", row(to, static_cast<u32>(value), 1, bytes));
}
hipError_t hipMemsetAsync(void* to, int value, std::size_t bytes, hipStream_t stream) {
  return queued(row(to, static_cast<u32>(value), 1, bytes), stream);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, std::size_t count) {
  return now("hipMemsetD8", row(to, value, 1, count));
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, std::size_t count, hipStream_t stream) {
  return queued(row(to, value, 1, count), stream);
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, std::size_t count) {
  return now("hipMemsetD16", row(to, value, 2, count));
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, std::size_t count, hipStream_t stream) {
  return queued(row(to, value, 2, count), stream);
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, std::size_t count) {
  return now("hipMemsetD32", row(to, static_cast<u32>(value), 4, count));
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, std::size_t count, hipStream_t stream) {
  return queued(row(to, static_cast<u32>(value), 4, count), stream);
}

hipError_t hipMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return now("hipMemset2D", plane(to, pitch, static_cast<u32>(value), 1, width, height));
}
hipError_t hipMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                            hipStream_t stream) {
  return queued(plane(to, pitch, static_cast<u32>(value), 1, width, height), stream);
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return now("hipMemset3D", box(to, value, extent));
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return queued(box(to, value, extent), stream);
}

}  // extern "C"
