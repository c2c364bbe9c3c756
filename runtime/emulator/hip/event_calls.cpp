// HIP: events.
#include <map>

#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

using EventPtr = std::shared_ptr<ihipEvent_t>;

struct Events {
  std::mutex mutex;
  std::map<hipEvent_t, EventPtr> all;
};

Events& events() {
  static Events* const instance = new Events;  // never destroyed: handles may outlive any order of destruction
  return *instance;
}

}  // namespace

EventPtr checked_event(hipEvent_t event) {
  const std::lock_guard lock(events().mutex);
  const auto found = events().all.find(event);
  if (found == events().all.end())
    throw HipError(hipErrorInvalidHandle, fmt::format("{} is not an event", static_cast<const void*>(event)));
  return found->second;
}

}  // namespace monojit::emulator

using monojit::emulator::Captures;
using monojit::emulator::checked_event;
using monojit::emulator::EventPtr;
using monojit::emulator::events;
using monojit::emulator::guarded;
using monojit::emulator::HipError;
using monojit::emulator::RecordWork;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::Runtime;
using monojit::emulator::submit;
using monojit::emulator::TicketPtr;

namespace {

constexpr unsigned int kIgnoredFlags =
    hipEventBlockingSync | hipEventDisableSystemFence | hipEventReleaseToDevice | hipEventReleaseToSystem;
constexpr unsigned int kKnownFlags = kIgnoredFlags | hipEventDisableTiming;

/// The end of the event's work, for its time. Throws HipError (hipErrorInvalidHandle, hipErrorNotReady).
TicketPtr timed(hipEvent_t handle, const char* which) {
  const EventPtr event = checked_event(handle);
  Captures::get().forbid_mark(*event, "hipEventElapsedTime");
  TicketPtr ticket = event->recorded();
  if (ticket == nullptr) throw HipError(hipErrorInvalidHandle, fmt::format("the {} event was never recorded", which));
  if ((event->flags() & hipEventDisableTiming) != 0)
    throw HipError(hipErrorInvalidHandle, fmt::format("the {} event was made without timing", which));
  if (!ticket->done()) throw HipError(hipErrorNotReady, fmt::format("the {} event has not happened yet", which));
  return ticket;
}

}  // namespace

extern "C" {

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags) {
  return guarded([&] {
    require(event, "event");
    static_cast<void>(Runtime::get());
    if ((flags & hipEventInterprocess) != 0)
      refuse_unsupported("an event between processes: hand over a word of memory (hipIpcGetMemHandle) instead");
    if ((flags & ~kKnownFlags) != 0) refuse_value(fmt::format("event flags {:#x}", flags));
    auto made = std::make_shared<ihipEvent_t>(flags);
    *event = made.get();
    const std::lock_guard lock(events().mutex);
    events().all.emplace(*event, std::move(made));
  });
}

hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, hipEventDefault); }

hipError_t hipEventDestroy(hipEvent_t event) {
  return guarded([&] {
    const EventPtr known = checked_event(event);
    const std::lock_guard lock(events().mutex);
    events().all.erase(event);
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return guarded([&] { submit(stream, RecordWork{checked_event(event)}); });
}

hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags) {
  return guarded([&] {
    if (flags > hipEventRecordExternal) refuse_value(fmt::format("event record flags {:#x}", flags));
    const bool external = flags == hipEventRecordExternal;
    if (external &&
        Captures::get().take_as_node(Runtime::get().streams().resolve(stream), RecordWork{checked_event(event)}))
      return;
    submit(stream, RecordWork{checked_event(event)});
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return guarded([&] {
    const EventPtr known = checked_event(event);
    Captures::get().forbid_mark(*known, "hipEventSynchronize");
    Runtime::get().engine().wait(known->device(), known->recorded());
  });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return guarded([&] {
    const EventPtr known = checked_event(event);
    Captures::get().forbid_mark(*known, "hipEventQuery");
    if (!Runtime::get().engine().query(known->device(), known->recorded()))
      throw HipError(hipErrorNotReady, "the event has not happened yet");
  });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return guarded([&] {
    require(milliseconds, "milliseconds");
    const TicketPtr first = timed(start, "first"), last = timed(stop, "second");
    constexpr double kMillisecondsPerSecond = 1e3;
    *milliseconds = static_cast<float>((last->seconds() - first->seconds()) * kMillisecondsPerSecond);
  });
}

}  // extern "C"
