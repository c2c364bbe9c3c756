#include "runtime/emulator/hip/capture.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "runtime/emulator/hip/graph_memory.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;

void require_valid(const Capture& capture) {
  if (capture.invalid)
    throw HipError(hipErrorStreamCaptureInvalidated, "an earlier error has invalidated the stream's capture");
}

[[noreturn]] void refuse_unjoined() {
  throw HipError(hipErrorStreamCaptureUnjoined,
                 "work captured in another stream was not joined: record an event there and let the stream that began "
                 "the capture wait for it");
}

/// Whether every tail of the other streams is before the origin's.
bool joined(const Capture& capture) {
  std::set<const hipGraphNode*> reached;
  std::vector<const hipGraphNode*> pending;
  const auto visit = [&](const hipGraphNode* node) {
    if (reached.insert(node).second) pending.push_back(node);
  };
  for (const hipGraphNode* node : capture.tails.at(capture.origin)) visit(node);
  while (!pending.empty()) {
    const hipGraphNode* const node = pending.back();
    pending.pop_back();
    for (const hipGraphNode* before : node->dependencies) visit(before);
  }
  return std::ranges::all_of(capture.tails, [&](const auto& tail) {
    return std::ranges::all_of(tail.second, [&](const hipGraphNode* node) { return reached.contains(node); });
  });
}

bool is_default(const ihipStream_t& stream) { return &Runtime::get().streams().resolve(hipStreamLegacy) == &stream; }

}  // namespace

Captures& Captures::get() {
  static Captures* const instance = new Captures;
  return *instance;
}

std::shared_ptr<Capture> Captures::find(const ihipStream_t& stream) {
  const auto found = by_stream_.find(&stream);
  return found == by_stream_.end() ? nullptr : found->second;
}

std::shared_ptr<Capture> Captures::of(const ihipStream_t& stream) {
  if (active_ == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  return find(stream);
}

hipStreamCaptureMode Captures::exchange_mode(hipStreamCaptureMode mode) { return std::exchange(thread_mode, mode); }

void Captures::join(const ihipStream_t& stream, const CaptureMark& mark) {
  const std::shared_ptr<Capture> source = mark.capture.lock();
  if (source == nullptr) throw HipError(hipErrorCapturedEvent, "the event was recorded in a capture that has ended");
  const std::shared_ptr<Capture> own = find(stream);
  if (own != nullptr && own != source) {
    own->invalid = source->invalid = true;
    throw HipError(hipErrorStreamCaptureMerge, "the event was recorded in another capture than the stream's");
  }
  require_valid(*source);
  if (own == nullptr) by_stream_[&stream] = source;
  std::vector<hipGraphNode_t>& tails = source->tails[&stream];
  for (const hipGraphNode_t node : mark.nodes) {
    if (std::ranges::find(tails, node) == tails.end()) tails.push_back(node);
  }
}

/// A stream waits for an event: in a capture that brings the stream into it, or adds dependencies.
bool Captures::take_wait(const ihipStream_t& stream, const ihipEvent_t& event) {
  if (const auto mark = event.mark(); mark != nullptr) {
    join(stream, *mark);
    return true;
  }
  const std::shared_ptr<Capture> capture = find(stream);
  if (capture == nullptr) return false;
  if (event.recorded() == nullptr) return true;
  capture->invalid = true;
  throw HipError(hipErrorStreamCaptureIsolation,
                 "a stream that captures can't wait for an event that was recorded outside of the capture");
}

bool Captures::take(const ihipStream_t& stream, const Work& work) {
  if (active_ == 0) return false;
  const auto graphs = lock_graphs();
  const std::lock_guard lock(mutex_);
  if (const auto* const wait = std::get_if<WaitWork>(&work)) return take_wait(stream, *wait->event);
  const std::shared_ptr<Capture> capture = find(stream);
  if (capture == nullptr) {
    check_default_stream(stream, "work");
    return false;
  }
  require_valid(*capture);
  std::vector<hipGraphNode_t>& tails = capture->tails[&stream];
  if (const auto* const record = std::get_if<RecordWork>(&work)) {
    record->event->record(CaptureMark{capture, tails});
  } else {
    tails = {capture->graph->add(work, tails)};
  }
  return true;
}

bool Captures::take_as_node(const ihipStream_t& stream, const Work& work) {
  const auto graphs = lock_graphs();
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Capture> capture = find(stream);
  if (capture == nullptr) return false;
  require_valid(*capture);
  std::vector<hipGraphNode_t>& tails = capture->tails[&stream];
  tails = {capture->graph->add(work, tails)};
  return true;
}

void* Captures::allocate(const ihipStream_t& stream, std::size_t bytes) {
  if (of(stream) == nullptr) return nullptr;
  auto memory = std::make_shared<GraphMemory>(bytes, stream.device);
  void* const pointer = memory->pointer;
  AllocateWork work{.memory = std::move(memory)};
  work.parameters.poolProps.allocType = hipMemAllocationTypePinned;
  work.parameters.poolProps.location = {hipMemLocationTypeDevice, static_cast<int>(stream.device)};
  work.parameters.bytesize = bytes;
  work.parameters.dptr = pointer;
  static_cast<void>(take(stream, std::move(work)));
  return pointer;
}

void Captures::forbid(const char* call) {
  if (active_ == 0 || thread_mode == hipStreamCaptureModeRelaxed) return;
  const std::lock_guard lock(mutex_);
  bool forbidden = false;
  for (const auto& [stream, capture] : by_stream_) {
    if (capture->mode == hipStreamCaptureModeRelaxed) continue;
    const bool own = capture->thread == std::this_thread::get_id();
    const bool global = capture->mode == hipStreamCaptureModeGlobal && thread_mode == hipStreamCaptureModeGlobal;
    if (!own && !global) continue;
    forbidden = true;
    capture->invalid = true;
  }
  if (forbidden)
    throw HipError(hipErrorStreamCaptureUnsupported, fmt::format("{} is not possible while a stream captures", call));
}

void Captures::check_default_stream(const ihipStream_t& stream, const char* call) {
  if (!is_default(stream)) return;
  for (const auto& [other, capture] : by_stream_) {
    if (other->device != stream.device || (other->flags & hipStreamNonBlocking) != 0) continue;
    capture->invalid = true;
    throw HipError(hipErrorStreamCaptureImplicit,
                   fmt::format("{} in the default stream would wait for a blocking stream that captures", call));
  }
}

void Captures::forbid_on(const ihipStream_t& stream, const char* call) {
  if (active_ == 0) return;
  const std::lock_guard lock(mutex_);
  if (const std::shared_ptr<Capture> capture = find(stream); capture != nullptr) {
    capture->invalid = true;
    throw HipError(hipErrorStreamCaptureUnsupported, fmt::format("{} of a stream that captures", call));
  }
  check_default_stream(stream, call);
}

void Captures::forbid_mark(const ihipEvent_t& event, const char* call) {
  const auto mark = event.mark();
  if (mark == nullptr) return;
  if (const std::shared_ptr<Capture> capture = mark->capture.lock(); capture != nullptr) {
    const std::lock_guard lock(mutex_);
    capture->invalid = true;
  }
  throw HipError(hipErrorCapturedEvent, fmt::format("{} of an event that was recorded in a capture", call));
}

void Captures::begin(const ihipStream_t& stream, hipStreamCaptureMode mode, std::shared_ptr<ihipGraph> graph,
                     std::vector<hipGraphNode_t> tails) {
  if (is_default(stream))
    throw HipError(hipErrorStreamCaptureUnsupported, "the default stream can't capture: make a stream for it");
  const std::lock_guard lock(mutex_);
  if (find(stream) != nullptr) throw HipError(hipErrorIllegalState, "the stream captures already");
  auto capture = std::make_shared<Capture>();
  capture->number = next_number_++;
  capture->origin = &stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->graph = std::move(graph);
  capture->tails[&stream] = std::move(tails);
  by_stream_[&stream] = std::move(capture);
  active_ = by_stream_.size();
}

std::shared_ptr<ihipGraph> Captures::end(const ihipStream_t& stream) {
  const auto graphs = lock_graphs();
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Capture> capture = find(stream);
  if (capture == nullptr) throw HipError(hipErrorIllegalState, "the stream does not capture");
  if (capture->origin != &stream) {
    capture->invalid = true;
    throw HipError(hipErrorStreamCaptureUnmatched, "the capture began in another stream");
  }
  if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
    throw HipError(hipErrorStreamCaptureWrongThread, "another thread began the capture, and not in relaxed mode");
  std::erase_if(by_stream_, [&](const auto& entry) { return entry.second == capture; });
  active_ = by_stream_.size();
  require_valid(*capture);
  if (!joined(*capture)) refuse_unjoined();
  return capture->graph;
}

}  // namespace monojit::emulator
