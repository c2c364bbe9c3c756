#include "runtime/emulator/checks/checked_memory.h"

#include <fmt/format.h>

#include "runtime/emulator/execute/fault.h"

namespace monojit::emulator {
namespace {

[[noreturn]] void report_unwritten(const Wave& wave, const MicroOp* op, u64 address, const std::string& who) {
  wave_fault(FailureKind::kCheckFailed, op,
             fmt::format("load of memory that was never written, at {:#x}{}: {}", address, who,
                         wave.worker->allocations->snapshot()->describe(address)));
}

}  // namespace

CheckedMemory::CheckedMemory(std::unique_ptr<MemoryModel> inner, bool races, WrittenBytes* written)
    : inner_(std::move(inner)), races_(races ? std::make_unique<RaceDetector>() : nullptr), written_(written) {}

CheckedMemory::~CheckedMemory() = default;

void CheckedMemory::begin_launch(u32 device) {
  if (races_ != nullptr) races_->begin_launch(device);
  inner_->begin_launch(device);
}

void CheckedMemory::end_launch(u32 device) {
  inner_->end_launch(device);
  if (races_ != nullptr) races_->end_launch(device);
}

void CheckedMemory::start_wave(Wave& wave, const WavePlace& place) {
  inner_->start_wave(wave, place);
  if (races_ != nullptr) races_->start_wave(wave, place);
}

void CheckedMemory::end_wave(Wave& wave) {
  if (races_ != nullptr) races_->end_wave(wave);
  inner_->end_wave(wave);
}

void CheckedMemory::check_written(const Wave& wave, const MemoryRequest& request) const {
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    const u64 first = request.addresses[lane], last = first + request.length(lane);
    const u64 missing = written_->first_unwritten(first, last);
    if (missing != last) report_unwritten(wave, request.op, missing, fmt::format(" by lane {}", lane));
  }
}

void CheckedMemory::mark_written(const MemoryRequest& request) const {
  for (u64 lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctzll(lanes));
    written_->mark(request.addresses[lane], request.addresses[lane] + request.length(lane));
  }
}

bool CheckedMemory::load(Wave& wave, std::unique_ptr<MemoryRequest>& request) {
  if (written_ != nullptr) check_written(wave, *request);
  if (races_ != nullptr) races_->load(wave, *request);
  return inner_->load(wave, request);
}

bool CheckedMemory::store(Wave& wave, std::unique_ptr<MemoryRequest>& request) {
  if (written_ != nullptr) mark_written(*request);
  if (races_ != nullptr) races_->store(wave, *request);
  return inner_->store(wave, request);
}

u8* CheckedMemory::atomic_place(Wave& wave, const MemoryRequest& request, u32 lane) {
  const bool first = (request.lanes & ((u64{1} << lane) - 1)) == 0;
  if (first) {
    if (written_ != nullptr) check_written(wave, request);
    if (races_ != nullptr) races_->atomic(wave, request);
  }
  return inner_->atomic_place(wave, request, lane);
}

void CheckedMemory::scalar_load(Wave& wave, const MicroOp* op, u64 address, u32 bytes, void* result) {
  if (written_ != nullptr) {
    const u64 missing = written_->first_unwritten(address, address + bytes);
    if (missing != address + bytes) report_unwritten(wave, op, missing, "");
  }
  inner_->scalar_load(wave, op, address, bytes, result);
}

bool CheckedMemory::wait(Wave& wave, const MicroOp* op, WaitCounts counts) {
  if (races_ != nullptr) races_->wait(wave, counts);
  return inner_->wait(wave, op, counts);
}

void CheckedMemory::invalidate(Wave& wave, CachePolicy policy) {
  if (races_ != nullptr) races_->invalidate(wave, policy);
  inner_->invalidate(wave, policy);
}

void CheckedMemory::write_back(Wave& wave, CachePolicy policy) {
  if (races_ != nullptr) races_->write_back(wave, policy);
  inner_->write_back(wave, policy);
}

void CheckedMemory::barrier(Wave& wave, const MicroOp* op) {
  if (races_ != nullptr) races_->barrier(wave);
  inner_->barrier(wave, op);
}

}  // namespace monojit::emulator
