#include "runtime/emulator/checks/pending_results.h"

#include <algorithm>

#include <fmt/format.h>

namespace monojit::emulator {
namespace {

constexpr u64 kMostVector = 63;  // a wave with this many outstanding stops issuing

bool is_vector_memory(InstructionKind kind) {
  return kind == InstructionKind::kVectorMemory || kind == InstructionKind::kFlat;
}

/// Whether results of `kind` can't arrive before those that `mark` waits for, so that writing the register again is
/// fine.
bool in_order_behind(InstructionKind kind, bool from_vector, bool from_local, bool from_scalar) {
  if (from_scalar) return false;
  if (kind == InstructionKind::kVectorMemory) return from_vector && !from_local;
  return kind == InstructionKind::kLds && from_local && !from_vector;
}

}  // namespace

std::optional<PendingResults::Complaint> PendingResults::issue(const InstructionFacts& facts, u32 number) {
  for (const RegisterUse& use : facts.registers) {
    for (u32 i = use.first; i < u32{use.first} + use.count; ++i) {
      const Mark& mark = marks_.at(use.file, i);
      if (!pending(mark)) continue;
      const bool rewritten = (use.written || use.tied) && in_order_behind(facts.kind, mark.vector > vector_done_,
                                                                          mark.local > local_done_, mark.scalar);
      if (rewritten) continue;
      const char* const counter = mark.vector > vector_done_ ? "vmcnt" : "lgkmcnt";
      return Complaint{fmt::format("{} {}, whose value is still on its way: no s_waitcnt {} has waited for it",
                                   use.written ? "writes" : "reads", register_name(use.file, i), counter),
                       mark.number};
    }
  }
  if (facts.kind == InstructionKind::kWait) {
    wait(facts.waits);
  } else {
    count(facts, number);
  }
  return std::nullopt;
}

void PendingResults::wait(WaitCounts waits) {
  if (waits.vector_memory < vector_issued_) vector_done_ = std::max(vector_done_, vector_issued_ - waits.vector_memory);
  if (waits.lds == 0) {
    local_done_ = local_issued_;
  } else if (last_scalar_ <= local_done_ && waits.lds < local_issued_) {
    local_done_ = std::max(local_done_, local_issued_ - waits.lds);
  }
}

void PendingResults::count(const InstructionFacts& facts, u32 number) {
  const bool vector = is_vector_memory(facts.kind);
  const bool scalar = facts.kind == InstructionKind::kScalarMemory;
  const bool local = facts.kind == InstructionKind::kLds || facts.kind == InstructionKind::kFlat;
  if (!vector && !local && !scalar) return;
  if (vector) ++vector_issued_;
  if (vector_issued_ > kMostVector) vector_done_ = std::max(vector_done_, vector_issued_ - kMostVector);
  if (local) ++local_issued_;
  if (scalar) last_scalar_ = local_issued_ += facts.scalar_results;
  for (const RegisterUse& use : facts.registers) {
    if (!use.written) continue;
    for (u32 i = use.first; i < u32{use.first} + use.count; ++i) {
      marks_.at(use.file, i) = {.vector = vector ? vector_issued_ : 0,
                                .local = local || scalar ? local_issued_ : 0,
                                .number = number,
                                .scalar = scalar};
    }
  }
}

}  // namespace monojit::emulator
