#include "runtime/emulator/hip/stream.h"

#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

/// The calling thread's default streams, by device; the thread's end destroys them.
struct ThreadStreams {
  std::array<hipStream_t, kMostDevices> streams{};
  ~ThreadStreams() {
    for (const hipStream_t stream : streams) {
      if (stream != nullptr) Runtime::get().streams().destroy(stream);
    }
  }
};
thread_local ThreadStreams thread_streams;

}  // namespace

Streams::Streams(Engine& engine, u32 devices) : engine_(engine) {
  for (u32 device = 0; device < devices; ++device) {
    defaults_.push_back(std::make_unique<ihipStream_t>(ihipStream_t{.device = device}));
  }
}

hipStream_t Streams::create(u32 device, unsigned int flags, int priority) {
  const std::lock_guard lock(mutex_);
  return *streams_.insert(new ihipStream_t{.device = device, .flags = flags, .priority = priority}).first;
}

void Streams::destroy(hipStream_t handle) {
  const std::lock_guard lock(mutex_);
  if (streams_.erase(handle) == 0) throw Failure(FailureKind::kInvalidValue, "not a stream");
  // The default stream must still wait for what the stream was given.
  ihipStream_t& standard = *defaults_[handle->device];
  if (blocking(*handle) && handle->last != nullptr && !handle->last->done()) {
    standard.last = engine_.submit({.device = handle->device, .after = {standard.last, handle->last}});
  }
  delete handle;
}

ihipStream_t& Streams::per_thread(u32 device) {
  hipStream_t& stream = thread_streams.streams[device];
  if (stream == nullptr) stream = create(device, hipStreamDefault, 0);
  return *stream;
}

ihipStream_t& Streams::resolve(hipStream_t handle) {
  if (handle == nullptr || handle == hipStreamLegacy) return *defaults_[current_device()];
  if (handle == hipStreamPerThread) return per_thread(current_device());
  const std::lock_guard lock(mutex_);
  if (!streams_.contains(handle)) {
    throw Failure(FailureKind::kInvalidValue, fmt::format("{} is not a stream", static_cast<const void*>(handle)));
  }
  return *handle;
}

/// What new work of the stream waits for.
std::vector<TicketPtr> Streams::before(const ihipStream_t& stream) const {
  std::vector<TicketPtr> tickets{stream.last};
  const ihipStream_t& standard = *defaults_[stream.device];
  if (&stream == &standard) {
    for (const ihipStream_t* other : streams_) {
      if (other->device == stream.device && blocking(*other)) tickets.push_back(other->last);
    }
  } else if (blocking(stream)) {
    tickets.push_back(standard.last);
  }
  return tickets;
}

TicketPtr Streams::enqueue(ihipStream_t& stream, Operation operation) {
  std::shared_ptr<QueuedWork> work;
  {
    const std::lock_guard lock(mutex_);
    operation.device = stream.device;
    for (TicketPtr& ticket : before(stream)) operation.after.push_back(std::move(ticket));
    work = engine_.queue(std::move(operation));
    stream.last = work->ticket;
  }
  engine_.begin_if_ready(work);
  return work->ticket;
}

TicketPtr Streams::tail(ihipStream_t& stream) {
  Operation marker{.device = stream.device};
  {
    const std::lock_guard lock(mutex_);
    marker.after = before(stream);
  }
  return engine_.submit(std::move(marker));
}

void Streams::run(ihipStream_t& stream, std::function<void()> work) {
  engine_.check(stream.device);
  engine_.wait_for_call(stream.device, enqueue(stream, {.work = std::move(work)}));
}

}  // namespace monojit::emulator
