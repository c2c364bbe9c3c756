#include "runtime/emulator/hip/copies.h"

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

bool pinned(const void* pointer) { return Runtime::get().memory().at(pointer).known(); }

template <class Pointer>
void place(Placed<Pointer>& target, const hipPitchedPtr& memory, const hipPos& position) {
  target.pitch = memory.pitch;
  target.slice = product_of(memory.pitch, memory.ysize);
  target.first = static_cast<Pointer>(memory.ptr);
  if (target.first != nullptr) target.first += position.z * target.slice + position.y * target.pitch + position.x;
}

}  // namespace

CopyWork row_copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return {.to = {.first = static_cast<u8*>(to)},
          .from = {.first = static_cast<const u8*>(from)},
          .box = {.width = bytes},
          .kind = kind};
}

CopyWork plane_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                    std::size_t height, hipMemcpyKind kind) {
  return {.to = {.first = static_cast<u8*>(to), .pitch = to_pitch},
          .from = {.first = static_cast<const u8*>(from), .pitch = from_pitch},
          .box = {.width = width, .height = height},
          .kind = kind};
}

CopyWork box_copy(const hipMemcpy3DParms& parameters) {
  if (parameters.srcArray != nullptr || parameters.dstArray != nullptr)
    refuse_unsupported("a copy of an array: the emulator has memory only, no textures");
  CopyWork copy;
  copy.box = {parameters.extent.width, parameters.extent.height, parameters.extent.depth};
  copy.kind = parameters.kind;
  place(copy.to, parameters.dstPtr, parameters.dstPos);
  place(copy.from, parameters.srcPtr, parameters.srcPos);
  return copy;
}

void copy_now(const char* call, const CopyWork& copy, hipStream_t stream) {
  check_copy(copy);
  submit_and_wait(call, stream, copy);
}

void copy_queued(const CopyWork& copy, hipStream_t handle) {
  Runtime& runtime = Runtime::get();
  ihipStream_t& stream = runtime.streams().resolve(handle);
  check_copy(copy);
  Work work = copy;
  if (Captures::get().take(stream, work)) return;
  if (copy.box.empty()) return;
  const Operation operation = operation_of(work, stream.device, stream.priority);
  if (pinned(copy.to.first) && pinned(copy.from.first)) {
    runtime.streams().enqueue(stream, operation);
  } else {
    runtime.streams().run(stream, std::get<std::function<void()>>(operation.work));
  }
}

}  // namespace monojit::emulator
