// Streams that record their work into a graph instead of doing it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/graph.h"

namespace monojit::emulator {

/// One capture, from its begin to its end; several streams may take part.
struct Capture {
  u64 number = 0;
  const ihipStream_t* origin = nullptr;  ///< where it began and must end
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::thread::id thread;
  std::shared_ptr<ihipGraph> graph;
  bool invalid = false;
  /// What the next node of a stream depends on.
  std::map<const ihipStream_t*, std::vector<hipGraphNode_t>> tails;
};

/// All captures of the process. The functions that throw HipError for a call that a capture forbids invalidate the
/// captures that forbid it, as HIP does.
class Captures {
 public:
  static Captures& get();

  /// If the stream captures: adds the work as a node (or has the stream join or mark, for events) and returns true.
  bool take(const ihipStream_t& stream, const Work& work);
  /// The same, but every kind of work becomes a node.
  bool take_as_node(const ihipStream_t& stream, const Work& work);
  /// If the stream captures: memory that its graph will own. Else null.
  void* allocate(const ihipStream_t& stream, std::size_t bytes);

  /// Throws hipErrorStreamCaptureUnsupported if captures forbid the thread to make calls like this one, which affect
  /// more than one stream: the thread's own unless they are relaxed, and other threads' global ones.
  void forbid(const char* call);
  /// Throws hipErrorStreamCaptureUnsupported if the stream captures, hipErrorStreamCaptureImplicit if it is the default
  /// stream and would wait for a stream that captures.
  void forbid_on(const ihipStream_t& stream, const char* call);
  /// Throws hipErrorCapturedEvent if the event was recorded in a capture.
  void forbid_mark(const ihipEvent_t& event, const char* call);

  void begin(const ihipStream_t& stream, hipStreamCaptureMode mode, std::shared_ptr<ihipGraph> graph,
             std::vector<hipGraphNode_t> tails);
  std::shared_ptr<ihipGraph> end(const ihipStream_t& stream);
  /// The stream's capture, or null.
  [[nodiscard]] std::shared_ptr<Capture> of(const ihipStream_t& stream);
  /// The calling thread's mode: what forbid() asks for.
  [[nodiscard]] static hipStreamCaptureMode exchange_mode(hipStreamCaptureMode mode);

 private:
  std::shared_ptr<Capture> find(const ihipStream_t& stream);
  bool take_wait(const ihipStream_t& stream, const ihipEvent_t& event);
  void join(const ihipStream_t& stream, const CaptureMark& mark);
  void check_default_stream(const ihipStream_t& stream, const char* call);

  std::atomic<std::size_t> active_{0};  ///< most calls find none, and need no lock
  std::mutex mutex_;
  std::map<const ihipStream_t*, std::shared_ptr<Capture>> by_stream_;
  u64 next_number_ = 1;
};

}  // namespace monojit::emulator
