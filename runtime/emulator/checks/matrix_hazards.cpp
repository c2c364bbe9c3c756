#include "runtime/emulator/checks/matrix_hazards.h"

#include <fmt/format.h>

namespace monojit::emulator {
namespace {

constexpr u32 kVectorWriteToMatrix = 2;
constexpr u32 kExecWriteToMatrix = 4;

bool is_addend(const InstructionFacts& facts, const RegisterUse& use) {
  const auto& addend = facts.matrix.addend;
  return addend && addend->file == use.file && addend->first == use.first && addend->count == use.count;
}

bool is_memory(InstructionKind kind) {
  return kind == InstructionKind::kLds || kind == InstructionKind::kVectorMemory || kind == InstructionKind::kFlat;
}

}  // namespace

/// The result of `write` goes into another MFMA.
u32 MatrixHazards::needed_by_matrix(const Event& write, const InstructionFacts& facts, const RegisterUse& use) const {
  const MatrixFacts &first = write.matrix, &second = facts.matrix;
  const u32 late = first.passes != 2 && gfx950_ ? 1 : 0;
  if (!is_addend(facts, use)) {
    if (first.doubles) return first.small ? 6 : gfx950_ ? 19 : 11;
    return first.xdl ? first.passes + 3 + late : first.passes + 2;
  }
  const bool whole = write.whole.first == use.first && write.whole.count == use.count;
  if (whole) {  // the chips forward an accumulator as a whole
    if (first.doubles && first.small && second.doubles && second.small) return 4;
    return first.passes == 2 ? 2 : 0;
  }
  if (first.doubles) return second.xdl ? 0 : first.small ? 4 : gfx950_ ? 17 : 9;
  if (!first.xdl) return second.xdl ? 0 : first.passes;
  return second.xdl ? first.passes + 1 + (gfx950_ ? 1 : 0) : first.passes + 1 + late;
}

/// A vector or memory instruction reads or overwrites the result of `write`.
u32 MatrixHazards::needed_by_vector(const Event& write, const InstructionFacts& facts, bool written) const {
  const MatrixFacts& first = write.matrix;
  if (first.doubles) {
    if (written) return first.small ? 6 : 11;
    if (is_memory(facts.kind)) return first.small ? 9 : 18;
    return first.small ? 6 : gfx950_ ? 19 : 11;
  }
  return first.xdl ? first.passes + 3 + (first.passes != 2 && gfx950_ ? 1 : 0) : first.passes + 2;
}

std::optional<MatrixHazards::Complaint> MatrixHazards::look(const Event& event, u32 needed, const RegisterUse& use,
                                                            u32 reg, const char* what) const {
  if (event.at == 0) return std::nullopt;
  const u64 since = now_ - event.at - 1;
  if (since >= needed) return std::nullopt;
  return Complaint{
      fmt::format("{} {} after {} wait states, where {} are needed", what, register_name(use.file, reg), since, needed),
      event.number};
}

std::optional<MatrixHazards::Complaint> MatrixHazards::check(const InstructionFacts& facts, const RegisterUse& use,
                                                             u32 reg) {
  const Events& events = events_.at(use.file, reg);
  if (facts.kind == InstructionKind::kMatrix) {
    if (use.written) return std::nullopt;
    if (auto found = look(events.vector_write, kVectorWriteToMatrix, use, reg, "an MFMA reads a vector instruction's"))
      return found;
    return look(events.matrix_write, needed_by_matrix(events.matrix_write, facts, use), use, reg,
                "an MFMA reads another's");
  }
  if (facts.kind != InstructionKind::kVector && !is_memory(facts.kind)) return std::nullopt;
  if (auto found = look(events.matrix_write, needed_by_vector(events.matrix_write, facts, use.written), use, reg,
                        use.written ? "overwrites an MFMA's" : "reads an MFMA's"))
    return found;
  if (!use.written) return std::nullopt;
  const u32 passes = events.matrix_addend.matrix.passes;
  return look(events.matrix_addend, passes > 0 ? passes - 1 : 0, use, reg, "overwrites what an MFMA reads as C:");
}

std::optional<MatrixHazards::Complaint> MatrixHazards::issue(const InstructionFacts& facts, u32 number) {
  if (facts.kind == InstructionKind::kMatrix) {
    const RegisterUse exec{.first = kExecWord, .count = 2};
    if (auto found =
            look(exec_write_, kExecWriteToMatrix, exec, kExecWord, "an MFMA runs under a vector instruction's"))
      return found;
  }
  for (const RegisterUse& use : facts.registers) {
    if (use.file == RegisterUse::File::kScalar) continue;
    for (u32 reg = use.first; reg < u32{use.first} + use.count; ++reg) {
      if (auto found = check(facts, use, reg)) return found;
    }
  }
  note(facts, number);
  now_ += facts.wait_states;
  return std::nullopt;
}

void MatrixHazards::note(const InstructionFacts& facts, u32 number) {
  const bool matrix = facts.kind == InstructionKind::kMatrix;
  const bool vector = facts.kind == InstructionKind::kVector;
  if (!matrix && !vector) return;
  for (const RegisterUse& use : facts.registers) {
    const Event event{.at = now_, .number = number, .whole = use, .matrix = facts.matrix};
    if (use.file == RegisterUse::File::kScalar) {
      if (vector && use.written && use.first + use.count > kExecWord) exec_write_ = event;
      continue;
    }
    for (u32 reg = use.first; reg < u32{use.first} + use.count; ++reg) {
      Events& events = events_.at(use.file, reg);
      if (matrix && use.written) events.matrix_write = event;
      if (matrix && !use.written && facts.matrix.xdl && is_addend(facts, use)) events.matrix_addend = event;
      if (vector && use.written && !facts.dot) events.vector_write = event;
    }
  }
}

}  // namespace monojit::emulator
