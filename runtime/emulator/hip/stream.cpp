// HIP: streams and events. Work is done when the call that starts it returns, so streams only carry errors to the
// caller.
#include <chrono>

#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::require;
using monojit::emulator::Runtime;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

extern "C" {

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return guarded([&] {
    require(stream, "stream");
    static_cast<void>(Runtime::get());
    *stream = new ihipStream_t{flags};
  });
}

hipError_t hipStreamCreate(hipStream_t* stream) { return hipStreamCreateWithFlags(stream, hipStreamDefault); }

hipError_t hipStreamDestroy(hipStream_t stream) {
  return guarded([&] {
    require(stream, "stream");
    delete stream;
  });
}

hipError_t hipStreamSynchronize(hipStream_t) {
  return guarded([] { Runtime::get().synchronize(); });
}

hipError_t hipStreamQuery(hipStream_t) {
  return guarded([] { Runtime::get().synchronize(); });
}

hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t event, unsigned int) {
  return guarded([&] { require(event, "event"); });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int) {
  return guarded([&] {
    require(event, "event");
    *event = new ihipEvent_t;
  });
}

hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, hipEventDefault); }

hipError_t hipEventDestroy(hipEvent_t event) {
  return guarded([&] {
    require(event, "event");
    delete event;
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t) {
  return guarded([&] {
    require(event, "event");
    event->seconds = now();
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return guarded([&] {
    require(event, "event");
    Runtime::get().synchronize();
  });
}

hipError_t hipEventQuery(hipEvent_t event) { return hipEventSynchronize(event); }

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return guarded([&] {
    require(milliseconds, "milliseconds");
    require(start, "start");
    require(stop, "stop");
    if (!start->seconds || !stop->seconds) throw Failure(FailureKind::kInvalidValue, "an event was never recorded");
    *milliseconds = static_cast<float>((*stop->seconds - *start->seconds) * 1e3);
  });
}

}  // extern "C"
