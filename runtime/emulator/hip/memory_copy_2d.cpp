// HIP: copies of rows with a pitch, and of boxes.
#include <fmt/format.h>

#include "runtime/emulator/hip/copies.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::box_copy;
using monojit::emulator::copy_now;
using monojit::emulator::copy_queued;
using monojit::emulator::CopyWork;
using monojit::emulator::guarded;
using monojit::emulator::plane_copy;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::refuse_value;
using monojit::emulator::require;

namespace {

/// The side of a hip_Memcpy2D that `type` chooses.
template <class Pointer>
Pointer choose(hipMemoryType type, Pointer host, Pointer device) {
  if (type == hipMemoryTypeHost) return host;
  if (type == hipMemoryTypeDevice || type == hipMemoryTypeUnified || type == hipMemoryTypeManaged) return device;
  if (type == hipMemoryTypeArray) refuse_unsupported("a copy of an array: the emulator has memory only, no textures");
  refuse_value(fmt::format("copy: memory type {}", static_cast<int>(type)));
}

hipMemcpyKind kind_of(const hip_Memcpy2D& copy) {
  const bool to_host = copy.dstMemoryType == hipMemoryTypeHost, from_host = copy.srcMemoryType == hipMemoryTypeHost;
  if (to_host) return from_host ? hipMemcpyHostToHost : hipMemcpyDeviceToHost;
  return from_host ? hipMemcpyHostToDevice : hipMemcpyDeviceToDevice;
}

CopyWork work_of(const hip_Memcpy2D* copy) {
  require(copy, "copy");
  auto* const to = static_cast<char*>(choose<void*>(copy->dstMemoryType, copy->dstHost, copy->dstDevice));
  const auto* const from = static_cast<const char*>(
      choose<const void*>(copy->srcMemoryType, copy->srcHost, static_cast<const void*>(copy->srcDevice)));
  require(to, "destination");
  require(from, "source");
  return plane_copy(to + copy->dstY * copy->dstPitch + copy->dstXInBytes, copy->dstPitch,
                    from + copy->srcY * copy->srcPitch + copy->srcXInBytes, copy->srcPitch, copy->WidthInBytes,
                    copy->Height, kind_of(*copy));
}

}  // namespace

extern "C" {

hipError_t hipMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                       std::size_t height, hipMemcpyKind kind) {
  return guarded(
      [&] { copy_now("hipMemcpy2D", plane_copy(to, to_pitch, from, from_pitch, width, height, kind), nullptr); });
}

hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                            std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return guarded([&] { copy_queued(plane_copy(to, to_pitch, from, from_pitch, width, height, kind), stream); });
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D* copy) {
  return guarded([&] { copy_now("hipMemcpyParam2D", work_of(copy), nullptr); });
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* copy) {
  return guarded([&] { copy_now("hipDrvMemcpy2DUnaligned", work_of(copy), nullptr); });
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* copy, hipStream_t stream) {
  return guarded([&] { copy_queued(work_of(copy), stream); });
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters) {
  return guarded([&] { require(parameters, "parameters"), copy_now("hipMemcpy3D", box_copy(*parameters), nullptr); });
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  return guarded([&] { require(parameters, "parameters"), copy_queued(box_copy(*parameters), stream); });
}

}  // extern "C"
