// Streams: what orders the work of a device.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/hip/engine.h"

/// A stream; the handle type that HIP's headers leave open. The legacy default stream of a device is one too.
struct ihipStream_t {
  monojit::emulator::u32 device = 0;
  unsigned int flags = 0;  ///< hipStreamNonBlocking or 0
  int priority = 0;
  monojit::emulator::TicketPtr last{};  ///< of the latest operation; the registry's lock guards it
};

namespace monojit::emulator {

/// All streams of the process, and the order between them: work of the legacy default stream waits for everything that
/// the device's blocking streams were given before, and they for it.
class Streams {
 public:
  Streams(Engine& engine, u32 devices);

  hipStream_t create(u32 device, unsigned int flags, int priority);
  /// Work that is queued is still done. Throws Failure (kInvalidValue) for what is no stream.
  void destroy(hipStream_t handle);

  /// The stream behind a handle: null and hipStreamLegacy are the default stream of the current device,
  /// hipStreamPerThread is the calling thread's own. Throws Failure (kInvalidValue) for what is no stream.
  ihipStream_t& resolve(hipStream_t handle);

  /// Queues the operation behind the stream's earlier work (and what its default stream semantics ask for).
  /// `operation.device` is set to the stream's; `operation.after` may name more to wait for.
  TicketPtr enqueue(ihipStream_t& stream, Operation operation);
  /// The end of everything the stream was given so far; nothing waits for it but who asked.
  TicketPtr tail(ihipStream_t& stream);

  /// Enqueue and wait: what a synchronous copy does. Throws the device's failure.
  void run(ihipStream_t& stream, std::function<void()> work);

 private:
  [[nodiscard]] static bool blocking(const ihipStream_t& stream) { return (stream.flags & hipStreamNonBlocking) == 0; }
  ihipStream_t& per_thread(u32 device);
  [[nodiscard]] std::vector<TicketPtr> before(const ihipStream_t& stream) const;

  Engine& engine_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ihipStream_t>> defaults_;  ///< one a device
  std::set<ihipStream_t*> streams_;
};

}  // namespace monojit::emulator
