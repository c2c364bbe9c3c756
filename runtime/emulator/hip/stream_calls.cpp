// HIP: streams.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Captures;
using monojit::emulator::checked_event;
using monojit::emulator::current_device;
using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::HostCall;
using monojit::emulator::HostWork;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::Streams;
using monojit::emulator::submit;
using monojit::emulator::WaitWork;

namespace {

constexpr int kLowestPriority = 1;
constexpr int kHighestPriority = -1;

hipStream_t create_stream(unsigned int flags, int priority) {
  if ((flags & ~static_cast<unsigned int>(hipStreamNonBlocking)) != 0) {
    throw Failure(FailureKind::kInvalidValue, fmt::format("stream flags {:#x}", flags));
  }
  return Runtime::get().streams().create(current_device(), flags,
                                         std::clamp(priority, kHighestPriority, kLowestPriority));
}

}  // namespace

extern "C" {

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return guarded([&] {
    require(stream, "stream");
    *stream = create_stream(flags, priority);
  });
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}

hipError_t hipStreamCreate(hipStream_t* stream) { return hipStreamCreateWithPriority(stream, hipStreamDefault, 0); }

hipError_t hipDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return guarded([&] {
    if (lowest != nullptr) *lowest = kLowestPriority;
    if (highest != nullptr) *highest = kHighestPriority;
  });
}

hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return guarded([&] {
    require(priority, "priority");
    *priority = Runtime::get().streams().resolve(stream).priority;
  });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  return guarded([&] {
    require(flags, "flags");
    *flags = Runtime::get().streams().resolve(stream).flags;
  });
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return guarded([&] {
    require(device, "device");
    *device = static_cast<hipDevice_t>(Runtime::get().streams().resolve(stream).device);
  });
}

hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* number) {
  return guarded([&] {
    require(number, "streamId");
    *number = reinterpret_cast<unsigned long long>(&Runtime::get().streams().resolve(stream));
  });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return guarded([&] {
    require(stream, "stream");
    Streams& streams = Runtime::get().streams();
    Captures::get().forbid_on(streams.resolve(stream), "hipStreamDestroy");
    streams.destroy(stream);
  });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return guarded([&] {
    Runtime& runtime = Runtime::get();
    ihipStream_t& queue = runtime.streams().resolve(stream);
    Captures::get().forbid_on(queue, "hipStreamSynchronize");
    runtime.engine().wait(queue.device, runtime.streams().tail(queue));
  });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return guarded([&] {
    Runtime& runtime = Runtime::get();
    ihipStream_t& queue = runtime.streams().resolve(stream);
    Captures::get().forbid_on(queue, "hipStreamQuery");
    if (!runtime.engine().query(queue.device, runtime.streams().tail(queue)))
      throw HipError(hipErrorNotReady, "the stream has work left");
  });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return guarded([&] {
    if (flags > hipEventWaitExternal) refuse_value(fmt::format("event wait flags {:#x}", flags));
    const bool external = flags == hipEventWaitExternal;
    if (external &&
        Captures::get().take_as_node(Runtime::get().streams().resolve(stream), WaitWork{checked_event(event)}))
      return;
    submit(stream, WaitWork{checked_event(event)});
  });
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return guarded([&] {
    require(reinterpret_cast<const void*>(function), "function");
    submit(stream, HostWork{function, data});
  });
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* data, unsigned int) {
  return guarded([&] {
    require(reinterpret_cast<const void*>(callback), "callback");
    Streams& streams = Runtime::get().streams();
    ihipStream_t& queue = streams.resolve(stream);
    Captures::get().forbid_on(queue, "hipStreamAddCallback");
    streams.enqueue(queue, {.work = HostCall{[=] { callback(stream, hipSuccess, data); }}});
  });
}

}  // extern "C"
