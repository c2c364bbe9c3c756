#pragma once

#include <array>
#include <cstddef>

/// What the fake HIP library pretends to be, and what it saw. One object a library, reached by the symbol `fakeHip`.
struct FakeHip {
  int devices = 1;
  const char* arch = "gfx950:sramecc+:xnack-";
  int compute_units = 256;
  int workgroups_per_unit = 1;
  /// Name of the one function that fails with hipErrorInvalidValue; null: all succeed.
  const char* failing = nullptr;
  /// Text of monojitEmulatorLastFault().
  const char* fault = nullptr;

  int loads = 0;
  int unloads = 0;
  int allocations = 0;  ///< not freed yet
  int launches = 0;
  int accesses = 0;  ///< hipDeviceEnablePeerAccess
  int mappings = 0;  ///< not closed yet
  int graphs = 0;    ///< captured, not destroyed yet
  int replays = 0;   ///< of executable ones
  int copies = 0;    ///< asynchronous ones
  int synchronizations = 0;
  void* copied_to = nullptr;
  bool landed = true;  ///< events are over
  unsigned grid = 0;
  unsigned workgroup_size = 0;
  void* stream = nullptr;
  std::size_t kernarg_bytes = 0;
  std::array<std::byte, 1024> kernarg{};
};

using FakeHipFunction = FakeHip*();
