#include "runtime/emulator/schedule/grid.h"

#include <algorithm>
#include <cstring>

#include "runtime/emulator/code/module.h"
#include "runtime/emulator/observe/profile.h"

namespace monojit::emulator {
namespace {

constexpr u64 kPacketOffset = kLaunchMemoryBytes - 64;  // the dispatch packet stands behind the arguments

/// The hsa_kernel_dispatch_packet_t that the dispatch pointer leads to.
void write_dispatch_packet(u8* packet, const LaunchRequest& request, const u8* kernarg) {
  std::memset(packet, 0, 64);
  for (u32 i = 0; i < 3; ++i) {
    const u16 block = static_cast<u16>(request.block[i]);
    const u32 grid = request.grid[i] * request.block[i];
    std::memcpy(packet + 4 + 2 * i, &block, sizeof block);
    std::memcpy(packet + 12 + 4 * i, &grid, sizeof grid);
  }
  const u32 lds = request.lds_bytes();
  const u32 scratch = request.scratch_bytes();
  std::memcpy(packet + 24, &scratch, 4);
  std::memcpy(packet + 28, &lds, 4);
  const u64 address = reinterpret_cast<u64>(kernarg);
  std::memcpy(packet + 40, &address, sizeof address);
}

/// Puts the kernel arguments and the dispatch packet into emulated memory.
void write_launch_memory(u8* memory, const LaunchRequest& request) {
  std::vector<u8> arguments = request.arguments;
  fill_hidden_arguments(request, arguments);
  if (arguments.size() > kPacketOffset) {
    throw Failure(FailureKind::kInvalidLaunch, "more than 64 KiB of kernel arguments");
  }
  std::memset(memory, 0, kPacketOffset);
  std::ranges::copy(arguments, memory);
  write_dispatch_packet(memory + kPacketOffset, request, memory);
}

}  // namespace

Grid::Grid(LaunchRequest request, const ChipLimits& chip, u8* launch_memory, std::unique_ptr<BlockArena> arena,
           u32 workers, ProgramVariant variant)
    : request_(std::move(request)),
      demand_(demand_of(request_.kernel->descriptor, request_.work_items(), request_.lds_bytes(), chip)),
      launch_memory_(launch_memory),
      arena_(std::move(arena)),
      total_(request_.workgroups()),
      tallies_(workers) {
  write_launch_memory(launch_memory, request_);
  launch_.request = &request_;
  launch_.program = &request_.kernel->program_as(variant);
  launch_.kernarg = launch_memory;
  launch_.dispatch_packet = launch_memory + kPacketOffset;
  launch_.waves = request_.waves();
  launch_.register_bytes = launch_.program->register_bytes();
  launch_.scratch_bytes = u64{request_.scratch_bytes()} * kLanes;
  launch_.lds_bytes = request_.lds_bytes();
  const Residency fits = residency(request_.kernel->descriptor, request_.work_items(), request_.lds_bytes(), chip);
  arena_->prepare(launch_.block_bytes(), std::min(total_, u64{fits.workgroups_per_cu} * chip.compute_units));
  for (u32 xcd = 0; xcd < chip.xcds; ++xcd) next_.push_back(xcd);
  if (request_.profile != nullptr) segments_.resize(workers);
  if (request_.trace != nullptr) recorder_.emplace(*request_.trace, *launch_.program);
}

void Grid::take_next(const Place& place, Workgroup& group) {
  const auto& grid = request_.grid;
  group = Workgroup{};
  group.number = next_[place.xcd];
  next_[place.xcd] += next_.size();
  ++admitted_;
  group.id = {static_cast<u32>(group.number % grid[0]), static_cast<u32>(group.number / grid[0] % grid[1]),
              static_cast<u32>(group.number / grid[0] / grid[1])};
  group.device = request_.device;
  group.xcd = place.xcd;
  group.cu = place.cu;
  group.on_simds = place.waves;
}

void Grid::fail(const Failure& failure) {
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = failure;
  stopped_ = true;
}

void Grid::add(u32 worker, const Worker& counted) { tallies_[worker] += counted; }

void Grid::tell_observers() {
  if (request_.profile != nullptr) request_.profile->add(*request_.kernel, *launch_.program, segments_);
  if (recorder_) recorder_->finish(rounds_);
  recorder_.reset();
  segments_.clear();
}

double Grid::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

LaunchReport Grid::report() const {
  LaunchReport report;
  for (const WorkCounts& tally : tallies_) report += tally;
  report.rounds = rounds_;
  report.seconds = seconds();
  return report;
}

}  // namespace monojit::emulator
