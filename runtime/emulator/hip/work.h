// What HIP calls ask a stream to do, as values: a stream queues them, a capture keeps them as nodes of a graph.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include <hip/hip_runtime_api.h>

#include "runtime/emulator/hip/operation.h"
#include "runtime/emulator/hip/stream.h"
#include "runtime/emulator/memory/allocations.h"

namespace monojit::emulator {

struct KernelWork {
  LaunchRequest request;
  hipFunction_t function = nullptr;
};

/// Memory seen as `depth` slices of `height` rows. A plain copy has one row.
struct Box {
  std::size_t width = 0;  ///< bytes of a row
  std::size_t height = 1;
  std::size_t depth = 1;
  [[nodiscard]] bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Where a box begins and how far apart its rows and slices lie, in bytes.
template <class Pointer>
struct Placed {
  Pointer first = nullptr;
  std::size_t pitch = 0;
  std::size_t slice = 0;
  /// Bytes from the first one to the end of the last row.
  [[nodiscard]] std::size_t extent(const Box& box) const {
    if (box.empty()) return 0;
    return sum_of(product_of(box.depth - 1, slice), sum_of(product_of(box.height - 1, pitch), box.width));
  }
};

struct CopyWork {
  Placed<u8*> to;
  Placed<const u8*> from;
  Box box;
  hipMemcpyKind kind = hipMemcpyDefault;
};

struct FillWork {
  Placed<u8*> to;
  Box box;
  u32 value = 0;
  u32 element_bytes = 1;  ///< 1, 2 or 4: the part of `value` that is repeated
};

struct HostWork {
  hipHostFn_t function = nullptr;
  void* data = nullptr;
};

struct RecordWork {
  std::shared_ptr<ihipEvent_t> event;
};
struct WaitWork {
  std::shared_ptr<ihipEvent_t> event;
};
struct EmptyWork {};

/// Memory that a graph owns: it is there from the making of the node to the end of the last graph that has it.
struct GraphMemory;
struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;
  hipMemAllocNodeParams parameters{};
};
struct FreeWork {
  void* pointer = nullptr;
};

/// Words of memory that a stream writes or waits for (hipStreamWriteValue32, hipStreamWaitValue32 ...).
struct WordWork {
  struct Word {
    void* address = nullptr;
    u64 value = 0;
    u64 mask = ~u64{0};
    u32 bytes = 4;
    bool wait = false;
    unsigned int condition = hipStreamWaitValueGte;
  };
  std::vector<Word> words;
};

/// A graph as one node of another.
struct ChildWork {
  std::shared_ptr<ihipGraph> graph;
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, RecordWork, WaitWork, AllocateWork,
                          FreeWork, WordWork, ChildWork>;

/// Refuses what can't be done: sizes against live allocations, launches against the chip. Throws Failure or HipError.
void check_work(const Work& work);
/// The same, for work that is made where it is used.
[[nodiscard]] Work checked_work(Work work);

/// Throws Failure (kInvalidValue) for a kernel of another device than the stream's.
void check_stream(const Work& work, const ihipStream_t& stream);

/// The queued form. Kernels run on their module's device, the rest belongs to `device`. Memory is checked again when
/// the work is done.
[[nodiscard]] Operation operation_of(const Work& work, u32 device, int priority);

/// Gives the work to the stream: queues it, or adds a node to the graph that the stream captures. The caller has
/// checked it.
void submit(hipStream_t stream, Work work);

/// Does what synchronous calls do: refused while a capture forbids it, waited for. Throws the device's failure
/// if nobody has been told of it: behind that, copies work, so that the host can read what a kernel left.
void submit_and_wait(const char* call, hipStream_t stream, Work work);

}  // namespace monojit::emulator
