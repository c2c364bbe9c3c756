#include "codegen/isa/instruction.h"

#include <array>

namespace monojit::codegen {
namespace {

struct Prefix {
  std::string_view text;
  InstructionClass instruction_class;
};

using enum InstructionClass;

/// The first match counts.
constexpr Prefix kPrefixes[] = {
    {"v_mfma_", kMfma},
    {"v_smfmac_", kMfma},
    {"v_readlane", kLaneMove},
    {"v_readfirstlane", kLaneMove},
    {"v_writelane", kLaneMove},
    {"v_", kValu},
    {"s_waitcnt", kWait},
    {"s_nop", kWait},
    {"s_sleep", kWait},
    {"s_barrier", kBarrier},
    {"s_branch", kBranch},
    {"s_cbranch", kBranch},
    {"s_setpc", kBranch},
    {"s_swappc", kBranch},
    {"s_endpgm", kBranch},
    {"s_load", kScalarMemory},
    {"s_store", kScalarMemory},
    {"s_buffer_", kScalarMemory},
    {"s_memtime", kScalarMemory},
    {"s_memrealtime", kScalarMemory},
    {"s_dcache", kCacheControl},
    {"s_icache", kCacheControl},
    {"s_", kSalu},
    {"buffer_inv", kCacheControl},
    {"buffer_wb", kCacheControl},
    {"ds_", kLds},
};

constexpr std::string_view kVectorMemory[] = {"buffer_", "global_", "flat_", "scratch_", "tbuffer_"};

constexpr std::array<std::string_view, kInstructionClasses> kNames = {
    "mfma",    "valu", "lane_move",   "salu",         "scalar_memory", "branch",        "wait",
    "barrier", "lds",  "vector_load", "vector_store", "atomic",        "cache_control", "other"};

}  // namespace

std::vector<std::string_view> operand_list(const Instruction& instruction) {
  std::vector<std::string_view> list;
  std::string_view rest = instruction.operands;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view operand = rest.substr(0, comma);
    while (operand.starts_with(' ')) operand.remove_prefix(1);
    while (operand.ends_with(' ')) operand.remove_suffix(1);
    if (!operand.empty()) list.push_back(operand);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return list;
}

std::string_view name_of(InstructionClass instruction_class) {
  return kNames[static_cast<std::size_t>(instruction_class)];
}

InstructionClass classify(std::string_view mnemonic) {
  for (const Prefix& prefix : kPrefixes) {
    if (mnemonic.starts_with(prefix.text)) return prefix.instruction_class;
  }
  for (const std::string_view memory : kVectorMemory) {
    if (!mnemonic.starts_with(memory)) continue;
    if (mnemonic.find("atomic") != std::string_view::npos) return kAtomic;
    return mnemonic.find("store") != std::string_view::npos ? kVectorStore : kVectorLoad;
  }
  return kOther;
}

}  // namespace monojit::codegen
