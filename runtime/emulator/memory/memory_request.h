// One vector memory instruction as a memory model takes it: where each lane goes, and what it brings or fetches.
#pragma once

#include "runtime/emulator/types.h"

namespace monojit::emulator {

struct MicroOp;
struct Wave;

/// sc1 sc0 of an instruction, as a number: how far its effect must reach.
enum class Scope : u8 { kWave, kWorkgroup, kDevice, kSystem };

struct CachePolicy {
  Scope scope = Scope::kWave;
  bool non_temporal = false;
};

inline constexpr u32 kLaneSlot = 16;  ///< bytes a lane has in MemoryRequest::data

struct MemoryRequest {
  /// Puts loaded data where the instruction wants it: the lanes' registers, or LDS.
  using Delivery = void (*)(Wave& wave, const MemoryRequest& request);

  alignas(64) u64 addresses[kLanes];        ///< host addresses, checked; of `lanes` only
  alignas(64) u8 data[kLanes * kLaneSlot];  ///< stores: what to write; loads: filled by the model
  alignas(64) u8 lengths[kLanes];           ///< bytes of each lane, where a range check cut some short (`partial`)
  u64 lanes = 0;
  u32 bytes = 0;  ///< of a lane, 1..16
  bool partial = false;
  CachePolicy policy;
  const MicroOp* op = nullptr;
  Delivery deliver = nullptr;  ///< of loads
  u32 lds_base = 0;            ///< of loads to LDS
  u32 context = 0;             ///< what else the delivery must know: the element format of typed loads

  [[nodiscard]] u32 length(u32 lane) const { return partial ? lengths[lane] : bytes; }
};

}  // namespace monojit::emulator
