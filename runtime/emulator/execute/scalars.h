// From a function over scalars to a handler: the scalar counterpart of lanes.h.
//
// A semantic takes its sources, then optionally `u32& scc`; a result of one or two words goes to the destination.
#pragma once

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/emulator/decode/entry.h"
#include "runtime/emulator/execute/control.h"

namespace monojit::emulator {

template <class T>
MONOJIT_EMULATOR_INLINE T read_scalar(Wave& wave, [[maybe_unused]] u32 offset) {
  if constexpr (std::is_same_v<T, u32&>) {
    return wave.scc();
  } else {
    T value;
    std::memcpy(&value, wave.registers + offset, sizeof value);
    return value;
  }
}

template <auto kFunction, class Result, class... Sources, std::size_t... kIndex>
MONOJIT_EMULATOR_INLINE void run_scalar(Wave& wave, const MicroOp* op, Result (*)(Sources...),
                                        std::index_sequence<kIndex...>) {
  const u32 offsets[] = {op->a, op->b, op->c, op->imm};
  if constexpr (std::is_void_v<Result>) {
    kFunction(read_scalar<Sources>(wave, offsets[kIndex])...);
  } else {
    const Result result = kFunction(read_scalar<Sources>(wave, offsets[kIndex])...);
    std::memcpy(wave.registers + op->dst, &result, sizeof result);
  }
}

template <auto kFunction, class Result, class... Sources>
MONOJIT_EMULATOR_INLINE void run_scalar_signature(Wave& wave, const MicroOp* op, Result (*signature)(Sources...)) {
  run_scalar<kFunction>(wave, op, signature, std::index_sequence_for<Sources...>{});
}

template <auto kFunction>
void scalar_handler(Wave& wave, const MicroOp* op) {
  run_scalar_signature<kFunction>(wave, op, +kFunction);
  MONOJIT_EMULATOR_NEXT(wave, op);
}

template <auto kFunction, class Result, class... Sources>
consteval void fill_scalar_entry(Entry& entry, Result (*)(Sources...)) {
  const std::array<OperandType, sizeof...(Sources) + 1> types{(std::is_same_v<Sources, u32&> ? OperandType::kNone
                                                               : sizeof(Sources) == 8        ? OperandType::k64
                                                                                             : OperandType::k32)...};
  for (const OperandType type : types) {
    if (type != OperandType::kNone) entry.sources[entry.source_count++] = type;
  }
  if constexpr (!std::is_void_v<Result>) entry.result = sizeof(Result) == 8 ? OperandType::k64 : OperandType::k32;
}

/// A table row for a scalar operation given as a captureless lambda.
template <auto kFunction>
consteval Entry scalar(std::string_view mnemonic, u16 flags = 0) {
  Entry entry{.mnemonic = mnemonic, .form = Form::kScalar, .flags = flags, .count = CountClass::kScalar};
  fill_scalar_entry<kFunction>(entry, +kFunction);
  entry.handlers[0] = &scalar_handler<kFunction>;
  return entry;
}

}  // namespace monojit::emulator
