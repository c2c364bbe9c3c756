// HIP: words of memory that streams write or wait for.
#include <fmt/format.h>

#include "runtime/emulator/hip/runtime.h"
#include "runtime/emulator/hip/work.h"

using monojit::emulator::check_work;
using monojit::emulator::guarded;
using monojit::emulator::refuse_unsupported;
using monojit::emulator::refuse_value;
using monojit::emulator::require;
using monojit::emulator::submit;
using monojit::emulator::u32;
using monojit::emulator::u64;
using monojit::emulator::WordWork;

namespace {

WordWork::Word wait_for(void* address, u64 value, u64 mask, u32 bytes, unsigned int condition) {
  if (condition > hipStreamWaitValueNor) refuse_value(fmt::format("wait for a word: condition {}", condition));
  return {.address = address, .value = value, .mask = mask, .bytes = bytes, .wait = true, .condition = condition};
}

WordWork::Word write_of(void* address, u64 value, u32 bytes) {
  return {.address = address, .value = value, .bytes = bytes};
}

WordWork::Word word_of(const hipStreamBatchMemOpParams& parameters) {
  const auto& wait = parameters.waitValue;
  const auto& write = parameters.writeValue;
  switch (parameters.operation) {
    case hipStreamMemOpWaitValue32:
      return wait_for(wait.address, wait.value, 0xffffffff, 4, wait.flags);
    case hipStreamMemOpWaitValue64:
      return wait_for(wait.address, wait.value64, ~u64{0}, 8, wait.flags);
    case hipStreamMemOpWriteValue32:
      return write_of(write.address, write.value, 4);
    case hipStreamMemOpWriteValue64:
      return write_of(write.address, write.value64, 8);
    default:
      refuse_unsupported(fmt::format("memory operation {} of a stream", static_cast<int>(parameters.operation)));
  }
}

void give(hipStream_t stream, const WordWork& work) {
  check_work(work);
  submit(stream, work);
}

}  // namespace

extern "C" {

hipError_t hipStreamWriteValue32(hipStream_t stream, void* address, uint32_t value, unsigned int) {
  return guarded([&] { give(stream, {{write_of(address, value, 4)}}); });
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* address, uint64_t value, unsigned int) {
  return guarded([&] { give(stream, {{write_of(address, value, 8)}}); });
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void* address, uint32_t value, unsigned int flags, uint32_t mask) {
  return guarded([&] { give(stream, {{wait_for(address, value, mask, 4, flags)}}); });
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void* address, uint64_t value, unsigned int flags, uint64_t mask) {
  return guarded([&] { give(stream, {{wait_for(address, value, mask, 8, flags)}}); });
}

hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count, hipStreamBatchMemOpParams* list, unsigned int) {
  return guarded([&] {
    require(list, "paramArray");
    WordWork work;
    for (unsigned int i = 0; i < count; ++i) work.words.push_back(word_of(list[i]));
    give(stream, work);
  });
}

}  // extern "C"
