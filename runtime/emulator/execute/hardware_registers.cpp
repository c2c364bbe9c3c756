// s_getreg and s_setreg: the registers that describe a wave and its place on the chip.
#include <fmt/format.h>
#include <immintrin.h>

#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/control.h"
#include "runtime/emulator/execute/fault.h"
#include "runtime/emulator/execute/memory_flags.h"
#include "runtime/emulator/execute/mode.h"
#include "runtime/emulator/schedule/workgroup.h"

namespace monojit::emulator {
namespace {

/// By the number in SIMM16[5:0]; [10:6] is the first bit, [15:11] the width minus one.
enum class HardwareRegister : u8 {
  kMode = 1,
  kStatus = 2,
  kTrapStatus = 3,
  kHardwareId = 4,
  kGprAllocation = 5,
  kLdsAllocation = 6,
  kIssueStatus = 7,  ///< wait counters: everything has arrived
  kMemoryBases = 15,
  kTrapBaseLow = 16,  ///< no trap handler is installed
  kTrapBaseHigh = 17,
  kTrapMemoryLow = 18,
  kTrapMemoryHigh = 19,
  kXccId = 20,
  kSnapshotData = 21,  ///< of the sampling profiler, which does not run
  kSnapshotData1 = 22,
  kSnapshotPcLow = 23,
  kSnapshotPcHigh = 24,
};

u32 status(const Wave& wave) {
  constexpr u32 kScc = 0, kExecZero = 9, kVccZero = 10, kInGroup = 11, kValid = 16, kHasScratch = 28;
  const auto bit = [](bool set, u32 index) { return set ? 1u << index : 0; };
  return bit(wave.registers[scalar_offset(kSccWord)] != 0, kScc) | bit(wave.exec() == 0, kExecZero) |
         bit(wave.pair(scalar_offset(kVccWord)) == 0, kVccZero) | bit(wave.group->waves.size() > 1, kInGroup) |
         bit(true, kValid) | bit(wave.scratch_lane_bytes != 0, kHasScratch);
}

/// Wave slot and SIMD by the wave's number in its workgroup; ten compute units make a shader engine.
u32 hardware_id(const Wave& wave) {
  constexpr u32 kSimds = 4, kCusOfEngine = 10;
  const u32 cu = wave.group->cu;
  return (wave.number / kSimds & 15) | wave.number % kSimds << 4 | cu % kCusOfEngine << 8 |
         (cu / kCusOfEngine & 3) << 13 | static_cast<u32>(wave.group->number & 15) << 16;
}

/// VGPRs in eights and SGPRs in sixteens, both less one, as the allocation starts at 0.
u32 gpr_allocation(const Wave& wave) {
  constexpr u32 kSgprGranules = 7;
  const u32 granules = (wave.program->rows + 7) / 8;
  return (granules == 0 ? 0 : granules - 1) << 8 | (kSgprGranules - 1) << 24;
}

u32 read_register(const Wave& wave, const MicroOp* op) {
  switch (static_cast<HardwareRegister>(op->imm & 63)) {
    case HardwareRegister::kMode:
      return wave.mode;
    case HardwareRegister::kStatus:
      return status(wave);
    case HardwareRegister::kTrapStatus:
      return wave.trap_status;
    case HardwareRegister::kHardwareId:
      return hardware_id(wave);
    case HardwareRegister::kGprAllocation:
      return gpr_allocation(wave);
    case HardwareRegister::kLdsAllocation:
      return (wave.lds_bytes + 511) / 512 << 12;
    case HardwareRegister::kMemoryBases:
      return static_cast<u32>(kPrivateApertureBase >> 48) | static_cast<u32>(kSharedApertureBase >> 48) << 16;
    case HardwareRegister::kXccId:
      return wave.group->xcd;
    case HardwareRegister::kIssueStatus:
    case HardwareRegister::kTrapBaseLow:
    case HardwareRegister::kTrapBaseHigh:
    case HardwareRegister::kTrapMemoryLow:
    case HardwareRegister::kTrapMemoryHigh:
    case HardwareRegister::kSnapshotData:
    case HardwareRegister::kSnapshotData1:
    case HardwareRegister::kSnapshotPcLow:
    case HardwareRegister::kSnapshotPcHigh:
      return 0;
  }
  wave_fault(FailureKind::kIllegalInstruction, op, fmt::format("there is no hardware register {}", op->imm & 63));
}

u32 field_mask(u32 simm) {
  const u32 width = (simm >> 11 & 31) + 1;
  return width == 32 ? ~0u : (1u << width) - 1;
}

void get_register(Wave& wave, const MicroOp* op) {
  wave.word(op->dst) = read_register(wave, op) >> (op->imm >> 6 & 31) & field_mask(op->imm);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

void write_mode(Wave& wave, const MicroOp* op, u32 mode) {
  if ((mode & ~wave.mode & (kModeIndexBit | kModeSkipBit)) != 0) {
    wave_fault(FailureKind::kIllegalInstruction, op,
               "VGPR indexing or skipping switched on by s_setreg: use s_set_gpr_idx_on or s_setvskip");
  }
  set_mode(wave, mode);
  _mm_setcsr(wave.host_mode32);
}

/// a: the value.
void set_register(Wave& wave, const MicroOp* op) {
  const u32 shift = op->imm >> 6 & 31;
  const u32 mask = field_mask(op->imm) << shift;
  const u32 value = wave.word(op->a) << shift & mask;
  switch (static_cast<HardwareRegister>(op->imm & 63)) {
    case HardwareRegister::kMode:
      write_mode(wave, op, (wave.mode & ~mask) | value);
      break;
    case HardwareRegister::kTrapStatus:
      wave.trap_status = (wave.trap_status & ~mask) | value;
      break;
    default:
      wave_fault(FailureKind::kIllegalInstruction, op,
                 fmt::format("hardware register {} can be written by trap handlers only", op->imm & 63));
  }
  MONOJIT_EMULATOR_NEXT(wave, op);
}

consteval Entry entry(std::string_view mnemonic, Handler handler) {
  return {.mnemonic = mnemonic, .form = Form::kHardwareRegister, .count = CountClass::kScalar, .handlers = {handler}};
}

constexpr Entry kEntries[] = {
    entry("s_getreg_b32", get_register),
    entry("s_setreg_b32", set_register),
    entry("s_setreg_imm32_b32", set_register),
};

}  // namespace

std::span<const Entry> hardware_register_entries() { return kEntries; }

}  // namespace monojit::emulator
