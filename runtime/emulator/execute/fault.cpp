#include "runtime/emulator/execute/fault.h"

#include <fmt/format.h>

namespace monojit::emulator {
namespace {

const char* name_of(AccessKind access) {
  switch (access) {
    case AccessKind::kLoad:
      return "load";
    case AccessKind::kStore:
      return "store";
    case AccessKind::kAtomic:
      return "atomic operation";
  }
  return "access";
}

/// What is at an address, for a fault there.
std::string describe_memory(const Worker& worker, u64 address) {
  const auto list = worker.allocations->snapshot();
  const Allocation* const found = list->find(address, address + 1);
  if (found == nullptr || list->accessible(*found, worker.device)) return list->describe(address);
  return fmt::format("{}, memory of device {}, which device {} has no peer access to", list->describe(address),
                     found->device, worker.device);
}

}  // namespace

void memory_fault(const Wave& wave, const MicroOp* op, AccessKind access, u32 lane, u64 address, u32 bytes) {
  throw WaveFault(FailureKind::kIllegalAddress, op,
                  fmt::format("{} of {} bytes at {:#x} by lane {}: {}", name_of(access), bytes, address, lane,
                              describe_memory(*wave.worker, address)));
}

void scalar_memory_fault(const Wave& wave, const MicroOp* op, AccessKind access, u64 address, u32 bytes) {
  throw WaveFault(FailureKind::kIllegalAddress, op,
                  fmt::format("scalar {} of {} bytes at {:#x}: {}", name_of(access), bytes, address,
                              describe_memory(*wave.worker, address)));
}

void lds_fault(const Wave& wave, const MicroOp* op, u32 lane, u64 address, u32 bytes) {
  throw WaveFault(FailureKind::kIllegalAddress, op,
                  fmt::format("LDS access of {} bytes at {:#x} by lane {}: the workgroup has {} bytes of LDS", bytes,
                              address, lane, wave.lds_bytes));
}

void scratch_fault(const Wave& wave, const MicroOp* op, u32 lane, u64 address, u32 bytes) {
  throw WaveFault(FailureKind::kIllegalAddress, op,
                  fmt::format("scratch access of {} bytes at {:#x} by lane {}: a lane has {} bytes of scratch", bytes,
                              address, lane, wave.scratch_lane_bytes));
}

void misaligned_fault(const Wave& wave, const MicroOp* op, AccessKind access, u32 lane, u64 address, u32 bytes,
                      u32 alignment) {
  throw WaveFault(
      FailureKind::kIllegalAddress, op,
      fmt::format("misaligned {} of {} bytes at {:#x} by lane {}: the address must be a multiple of {}; {}",
                  name_of(access), bytes, address, lane, alignment, describe_memory(*wave.worker, address)));
}

void misaligned_lds_fault(const MicroOp* op, AccessKind access, u32 lane, u64 address, u32 bytes, u32 alignment) {
  throw WaveFault(FailureKind::kIllegalAddress, op,
                  fmt::format("misaligned {} of {} bytes at LDS address {:#x} by lane {}: the address must be a "
                              "multiple of {}",
                              name_of(access), bytes, address, lane, alignment));
}

void element_format_fault(const MicroOp* op, u32 data_format, u32 number_format, const char* whose) {
  throw WaveFault(FailureKind::kIllegalAddress, op,
                  fmt::format("the {}'s data format {} with number format {} does not exist on this chip", whose,
                              data_format, number_format));
}

void wave_fault(FailureKind kind, const MicroOp* op, const std::string& text) { throw WaveFault(kind, op, text); }

}  // namespace monojit::emulator
