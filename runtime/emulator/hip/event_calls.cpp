// HIP: events.
#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/runtime.h"

using monojit::emulator::Failure;
using monojit::emulator::FailureKind;
using monojit::emulator::guarded;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::Streams;

extern "C" {

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags) {
  return guarded([&] {
    require(event, "event");
    *event = new ihipEvent_t(flags);
  });
}

hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, hipEventDefault); }

hipError_t hipEventDestroy(hipEvent_t event) {
  return guarded([&] {
    require(event, "event");
    delete event;
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return guarded([&] {
    require(event, "event");
    Streams& streams = Runtime::get().streams();
    ihipStream_t& queue = streams.resolve(stream);
    event->record(queue.device, streams.tail(queue));
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return guarded([&] {
    require(event, "event");
    Runtime::get().engine().wait(event->device(), event->recorded());
  });
}

hipError_t hipEventQuery(hipEvent_t event) {
  bool done = false;
  const hipError_t error = guarded([&] {
    require(event, "event");
    done = Runtime::get().engine().query(event->device(), event->recorded());
  });
  return error != hipSuccess || done ? error : hipErrorNotReady;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  bool done = true;
  const hipError_t error = guarded([&] {
    require(milliseconds, "milliseconds");
    require(start, "start");
    require(stop, "stop");
    const auto first = start->recorded(), last = stop->recorded();
    if (first == nullptr || last == nullptr) throw Failure(FailureKind::kInvalidValue, "an event was never recorded");
    done = first->done() && last->done();
    if (done) *milliseconds = static_cast<float>((last->seconds() - first->seconds()) * 1e3);
  });
  return error != hipSuccess || done ? error : hipErrorNotReady;
}

}  // extern "C"
