#include <fmt/format.h>

#include "runtime/emulator/hip/memory.h"
#include "runtime/emulator/hip/runtime.h"

namespace monojit::emulator {
namespace {

u64 address_of(const void* pointer) { return reinterpret_cast<u64>(pointer); }

[[noreturn]] void refuse_range(const AllocationList& list, u64 first, std::size_t bytes, const char* what) {
  std::string where = list.describe(first);
  if (const Allocation* const begun = list.find(first, first + 1); begun != nullptr)
    where += fmt::format(", which it leaves by {} bytes", bytes - (begun->end - first));
  throw Failure(FailureKind::kInvalidValue, fmt::format("{} of {} bytes at {:#x}: {}", what, bytes, first, where));
}

/// Memory that may be the host program's own: it must stay inside the allocation that it begins in, if there is one,
/// and touch nothing that is freed or behind another.
void check_any_range(const void* pointer, std::size_t bytes, const char* what) {
  const u64 first = address_of(pointer), last = sum_of(first, bytes);
  const auto list = Runtime::get().allocations().snapshot();
  const bool begins_inside = list->find(first, first + 1) != nullptr;
  if (last == ~u64{0} || (begins_inside && list->find(first, last) == nullptr)) refuse_range(*list, first, bytes, what);
  if (begins_inside) return;
  if (const u64 forbidden = list->first_forbidden(first, last); forbidden != 0)
    refuse_value(fmt::format("{} of {} bytes at {:#x}: it reaches {:#x}, {}", what, bytes, first, forbidden,
                             list->describe(forbidden)));
}

void check_rows(const Box& box, std::size_t pitch, const char* which) {
  if (box.height > 1 && pitch < box.width) {
    throw HipError(hipErrorInvalidPitchValue,
                   fmt::format("rows of {} bytes, where the {} pitch is {}", box.width, which, pitch));
  }
}

void check_side(const void* pointer, std::size_t bytes, bool device, const char* what) {
  if (device) {
    check_device_range(pointer, bytes, what);
  } else {
    check_any_range(pointer, bytes, what);
  }
}

}  // namespace

void check_device_range(const void* pointer, std::size_t bytes, const char* what) {
  const u64 first = address_of(pointer);
  const auto list = Runtime::get().allocations().snapshot();
  const u64 last = sum_of(first, bytes);
  if (last == ~u64{0} || list->find(first, last) == nullptr) refuse_range(*list, first, bytes, what);
}

void check_copy(const CopyWork& copy) {
  const hipMemcpyKind kind = copy.kind;
  const bool known = (kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) || kind == hipMemcpyDeviceToDeviceNoCU;
  if (!known) throw HipError(hipErrorInvalidMemcpyDirection, fmt::format("copy direction {}", static_cast<int>(kind)));
  if (copy.box.empty()) return;
  require(copy.to.first, "destination");
  require(copy.from.first, "source");
  check_rows(copy.box, copy.to.pitch, "destination's");
  check_rows(copy.box, copy.from.pitch, "source's");
  const bool between_devices = kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
  check_side(copy.to.first, copy.to.extent(copy.box), between_devices || kind == hipMemcpyHostToDevice,
             "copy to device memory");
  check_side(copy.from.first, copy.from.extent(copy.box), between_devices || kind == hipMemcpyDeviceToHost,
             "copy from device memory");
}

void check_fill(const FillWork& fill) {
  if (fill.element_bytes != 1 && fill.element_bytes != 2 && fill.element_bytes != 4)
    refuse_value(fmt::format("fill: elements of {} bytes, where 1, 2 or 4 is possible", fill.element_bytes));
  if (fill.box.empty()) return;
  require(fill.to.first, "destination");
  check_rows(fill.box, fill.to.pitch, "destination's");
  check_device_range(fill.to.first, fill.to.extent(fill.box), "fill");
}

}  // namespace monojit::emulator
