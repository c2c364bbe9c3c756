// HIP: device memory of other processes on this machine.
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/emulator/hip/process_group.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Allocation;
using monojit::emulator::current_device;
using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::i32;
using monojit::emulator::ProcessId;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::u32;
using monojit::emulator::u64;

namespace {

constexpr u32 kHandleMagic = 0x6d6a6970;

/// What a hipIpcMemHandle_t holds.
struct MemoryHandle {
  u32 magic;
  i32 pid;
  u64 start;
  i32 memory_descriptor;
  i32 process_descriptor;
  u64 bytes;
  u64 offset;  ///< of the pointer that was asked for; an opened handle leads there too
};
static_assert(sizeof(MemoryHandle) <= sizeof(hipIpcMemHandle_t));

MemoryHandle make_handle(const void* pointer) {
  Runtime& runtime = Runtime::get();
  const u64 address = reinterpret_cast<u64>(pointer);
  const auto list = runtime.allocations().snapshot();
  const Allocation* const found = list->find(address, address + 1);
  if (found == nullptr || found->host || found->code) {
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("IPC handle of {:#x}: not device memory; {}", address, list->describe(address)));
  }
  int descriptor = -1;
  runtime.engine().while_paused(
      [&] { descriptor = runtime.allocations().share(reinterpret_cast<void*>(found->begin)); });
  const ProcessId own = ProcessId::own();
  return {.magic = kHandleMagic,
          .pid = own.pid,
          .start = own.start,
          .memory_descriptor = descriptor,
          .process_descriptor = runtime.engine().processes().descriptor(),
          .bytes = found->end - found->begin,
          .offset = address - found->begin};
}

void* open_handle(const MemoryHandle& handle) {
  if (handle.magic != kHandleMagic)
    throw Failure(FailureKind::kInvalidValue, "not an IPC memory handle of the emulator");
  Runtime& runtime = Runtime::get();
  const ProcessId process{handle.pid, handle.start};
  const int descriptor = process.open_descriptor(handle.memory_descriptor);
  struct stat status{};
  void* base = nullptr;
  try {
    if (fstat(descriptor, &status) != 0 || static_cast<u64>(status.st_size) < handle.bytes)
      throw Failure(FailureKind::kInvalidValue, fmt::format("process {} has freed the handle's memory", handle.pid));
    runtime.engine().processes().join(process, handle.process_descriptor);
    base = runtime.allocations().attach(descriptor, handle.bytes, current_device());
  } catch (...) {
    close(descriptor);
    throw;
  }
  close(descriptor);
  return static_cast<char*>(base) + handle.offset;
}

}  // namespace

extern "C" {

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  return guarded([&] {
    require(handle, "handle");
    const MemoryHandle made = make_handle(pointer);
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle, &made, sizeof made);
  });
}

hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned int) {
  return guarded([&] {
    require(pointer, "pointer");
    *pointer = nullptr;
    MemoryHandle opened;
    std::memcpy(&opened, &handle, sizeof opened);
    *pointer = open_handle(opened);
  });
}

hipError_t hipIpcCloseMemHandle(void* pointer) {
  return guarded([&] {
    Runtime& runtime = Runtime::get();
    const u64 address = reinterpret_cast<u64>(pointer);
    const auto list = runtime.allocations().snapshot();
    const Allocation* const found = list->find(address, address + 1);
    if (found == nullptr || !found->imported) {
      throw Failure(FailureKind::kInvalidValue, fmt::format("{:#x} is not an opened IPC handle", address));
    }
    runtime.engine().drain();
    runtime.allocations().release(reinterpret_cast<void*>(found->begin));
  });
}

}  // extern "C"
