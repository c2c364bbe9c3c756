#include "runtime/emulator/schedule/launch.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/failure.h"
#include "runtime/emulator/schedule/placement.h"

namespace monojit::emulator {
namespace {

constexpr u32 kMostWorkItems = 1024;
constexpr u64 kMostGrid = u64{1} << 32;

[[noreturn]] void refuse(const LaunchRequest& request, const std::string& why) {
  throw Failure(FailureKind::kInvalidLaunch, fmt::format("launch of {}: {}", request.kernel->name, why));
}

}  // namespace

void check_launch(const LaunchRequest& request, const ChipLimits& chip) {
  const KernelMetadata& metadata = request.kernel->metadata;
  for (u32 i = 0; i < 3; ++i) {
    if (request.grid[i] == 0 || request.block[i] == 0) refuse(request, "a grid or block dimension is 0");
  }
  const u64 items = u64{request.block[0]} * request.block[1] * request.block[2];
  const u32 limit = std::min(kMostWorkItems, metadata.max_workgroup);
  if (items > limit) refuse(request, fmt::format("a workgroup of {} work-items, where {} is the most", items, limit));
  for (u32 i = 0; i < 3; ++i) {
    if (metadata.required_workgroup[0] != 0 && request.block[i] != metadata.required_workgroup[i]) {
      refuse(request, fmt::format("block {}x{}x{}, where the kernel requires {}x{}x{}", request.block[0],
                                  request.block[1], request.block[2], metadata.required_workgroup[0],
                                  metadata.required_workgroup[1], metadata.required_workgroup[2]));
    }
  }
  for (u32 i = 0; i < 3; ++i) {
    if (u64{request.grid[i]} * request.block[i] >= kMostGrid)
      refuse(request, "the grid has 2^32 or more work-items in a dimension");
  }
  if (request.lds_bytes() > chip.lds_bytes) {
    refuse(request, fmt::format("{} bytes of LDS, where {} has {}", request.lds_bytes(), chip.arch, chip.lds_bytes));
  }
  const Residency fits = residency(request.kernel->descriptor, request.work_items(), request.lds_bytes(), chip);
  if (fits.workgroups_per_cu == 0) {
    refuse(request, fmt::format("a workgroup of {} waves with {} registers a lane does not fit into a compute unit",
                                request.waves(), request.kernel->descriptor.vgprs + request.kernel->descriptor.agprs));
  }
  const u64 capacity = u64{fits.workgroups_per_cu} * chip.compute_units;
  if (request.cooperative && request.workgroups() > capacity) {
    throw Failure(FailureKind::kNotCoResident,
                  fmt::format("cooperative launch of {}: {} workgroups, where {} holds {} at once (limited by {})",
                              request.kernel->name, request.workgroups(), chip.arch, capacity, fits.limit));
  }
}

void fill_hidden_arguments(const LaunchRequest& request, std::vector<u8>& arguments) {
  const auto value_of = [&](std::string_view kind, u64& value) {
    constexpr std::string_view kAxes = "xyz";
    for (u32 i = 0; i < 3; ++i) {
      const auto named = [&](std::string_view stem) {
        return kind.size() == stem.size() + 1 && kind.starts_with(stem) && kind.back() == kAxes[i];
      };
      if (named("hidden_block_count_"))
        value = request.grid[i];
      else if (named("hidden_group_size_"))
        value = request.block[i];
      else if (named("hidden_remainder_") || named("hidden_global_offset_"))
        value = 0;
      else
        continue;
      return;
    }
    if (kind == "hidden_grid_dims")
      value = request.grid[2] > 1 || request.block[2] > 1 ? 3 : request.grid[1] > 1 || request.block[1] > 1 ? 2 : 1;
    if (kind == "hidden_dynamic_lds_size") value = request.dynamic_lds;
    if (kind == "hidden_private_base") value = kPrivateApertureBase >> 32;
    if (kind == "hidden_shared_base") value = kSharedApertureBase >> 32;
  };
  for (const KernelArgument& argument : request.kernel->metadata.arguments) {
    if (!argument.hidden()) continue;
    u64 value = 0;
    value_of(argument.kind, value);
    if (arguments.size() < argument.offset + argument.bytes) arguments.resize(argument.offset + argument.bytes);
    std::memcpy(arguments.data() + argument.offset, &value, std::min<u32>(argument.bytes, sizeof value));
  }
}

}  // namespace monojit::emulator
