#include "runtime/emulator/hip/work.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "runtime/emulator/hip/capture.h"
#include "runtime/emulator/hip/event.h"
#include "runtime/emulator/hip/limits.h"
#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/observe.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

template <class... Bodies>
struct Overloaded : Bodies... {
  using Bodies::operator()...;
};

void check_kernel(const KernelWork& kernel) {
  static_cast<void>(Runtime::get().kernel_of(kernel.function));
  check_launch(kernel.request, Runtime::get().settings().chip);
}

void check_words(const WordWork& work) {
  for (const WordWork::Word& word : work.words) {
    require(word.address, "address");
    if (reinterpret_cast<u64>(word.address) % word.bytes != 0)
      refuse_value(fmt::format("a {}-byte word at {}: misaligned", word.bytes, word.address));
    check_device_range(word.address, word.bytes, word.wait ? "wait for a word" : "write of a word");
  }
}

void note_written(const u8* row, std::size_t bytes) {
  const u64 first = reinterpret_cast<u64>(row);
  Runtime::get().allocations().note_written(first, first + bytes);
}

void copy(const CopyWork& work) {
  check_copy(work);
  for (std::size_t z = 0; z < work.box.depth; ++z) {
    for (std::size_t y = 0; y < work.box.height; ++y) {
      u8* const to = work.to.first + z * work.to.slice + y * work.to.pitch;
      std::memmove(to, work.from.first + z * work.from.slice + y * work.from.pitch, work.box.width);
      note_written(to, work.box.width);
    }
  }
}

void fill_row(u8* row, const FillWork& work) {
  note_written(row, work.box.width);
  if (work.element_bytes == 1) {
    std::memset(row, static_cast<int>(work.value), work.box.width);
    return;
  }
  for (std::size_t x = 0; x < work.box.width; x += work.element_bytes)
    std::memcpy(row + x, &work.value, work.element_bytes);
}

void fill(const FillWork& work) {
  check_fill(work);
  for (std::size_t z = 0; z < work.box.depth; ++z) {
    for (std::size_t y = 0; y < work.box.height; ++y)
      fill_row(work.to.first + z * work.to.slice + y * work.to.pitch, work);
  }
}

u64 load_word(const WordWork::Word& word) {
  return word.bytes == 4 ? __atomic_load_n(static_cast<u32*>(word.address), __ATOMIC_ACQUIRE)
                         : __atomic_load_n(static_cast<u64*>(word.address), __ATOMIC_ACQUIRE);
}

bool holds(const WordWork::Word& word) {
  const u64 found = load_word(word) & word.mask;
  switch (word.condition) {
    case hipStreamWaitValueGte:
      return word.bytes == 4 ? static_cast<i32>(found) - static_cast<i32>(word.value) >= 0
                             : static_cast<i64>(found - word.value) >= 0;
    case hipStreamWaitValueEq:
      return found == word.value;
    case hipStreamWaitValueAnd:
      return (found & word.value) != 0;
    default:
      return ~(found | word.value) != 0;
  }
}

void do_words(const WordWork& work) {
  constexpr std::chrono::microseconds kPollInterval{50};
  for (const WordWork::Word& word : work.words) {
    if (word.wait) {
      while (!holds(word)) std::this_thread::sleep_for(kPollInterval);
      continue;
    }
    note_written(static_cast<const u8*>(word.address), word.bytes);
    if (word.bytes == 4) {
      __atomic_store_n(static_cast<u32*>(word.address), static_cast<u32>(word.value), __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(static_cast<u64*>(word.address), word.value, __ATOMIC_RELEASE);
    }
  }
}

bool waits(const WordWork& work) {
  return std::ranges::any_of(work.words, [](const WordWork::Word& word) { return word.wait; });
}

}  // namespace

void check_work(const Work& work) {
  std::visit(
      Overloaded{[](const KernelWork& kernel) { check_kernel(kernel); },
                 [](const CopyWork& plain) { check_copy(plain); }, [](const FillWork& plain) { check_fill(plain); },
                 [](const WordWork& words) { check_words(words); },
                 [](const HostWork& host) { require(reinterpret_cast<const void*>(host.function), "function"); },
                 [](const auto&) {}},
      work);
}

Work checked_work(Work work) {
  check_work(work);
  return work;
}

void check_stream(const Work& work, const ihipStream_t& stream) {
  const auto* const kernel = std::get_if<KernelWork>(&work);
  if (kernel == nullptr || kernel->request.kernel->module->device() == stream.device) return;
  throw Failure(FailureKind::kInvalidValue,
                fmt::format("launch of {}: its module was loaded on device {}, the stream belongs to device {}",
                            kernel->request.kernel->name, kernel->request.kernel->module->device(), stream.device));
}

Operation operation_of(const Work& work, u32 device, int priority) {
  Operation operation{.device = device};
  std::visit(Overloaded{[&](const KernelWork& kernel) {
                          LaunchRequest request = kernel.request;
                          request.device = operation.device = request.kernel->module->device();
                          request.priority = priority;
                          request.stack_bytes = stack_limit();
                          request.profile = active_profile();
                          request.trace = active_trace();
                          operation.work = std::move(request);
                        },
                        [&](const CopyWork& plain) { operation.work = [plain] { copy(plain); }; },
                        [&](const FillWork& plain) { operation.work = [plain] { fill(plain); }; },
                        [&](const HostWork& host) { operation.work = HostCall{[host] { host.function(host.data); }}; },
                        [&](const WaitWork& wait) { operation.after.push_back(wait.event->recorded()); },
                        [&](const FreeWork& free) { operation.work = [free] { release_queued(free.pointer); }; },
                        [&](const WordWork& words) {
                          if (waits(words)) {
                            operation.work = HostCall{[words] { do_words(words); }};
                          } else {
                            operation.work = [words] { do_words(words); };
                          }
                        },
                        [](const auto&) {}},
             work);
  return operation;
}

void submit(hipStream_t handle, Work work) {
  Streams& streams = Runtime::get().streams();
  ihipStream_t& stream = streams.resolve(handle);
  check_stream(work, stream);
  if (Captures::get().take(stream, work)) return;
  TicketPtr ticket = streams.enqueue(stream, operation_of(work, stream.device, stream.priority));
  if (const auto* const record = std::get_if<RecordWork>(&work))
    record->event->record(stream.device, std::move(ticket));
}

void submit_and_wait(const char* call, hipStream_t handle, Work work) {
  Runtime& runtime = Runtime::get();
  Captures::get().forbid(call);
  ihipStream_t& stream = runtime.streams().resolve(handle);
  Captures::get().forbid_on(stream, call);
  runtime.engine().check_untold(stream.device);
  runtime.engine().wait_for_call(stream.device,
                                 runtime.streams().enqueue(stream, operation_of(work, stream.device, stream.priority)));
}

}  // namespace monojit::emulator
