// VOP3P on pairs of 32-bit registers: each half is an ordinary operation.
#include "runtime/emulator/decode/tables.h"

namespace monojit::emulator {
namespace {

consteval Entry pair(std::string_view mnemonic, std::string_view base, u8 sources) {
  return {
      .mnemonic = mnemonic, .form = Form::kPair, .count = CountClass::kVector, .source_count = sources, .base = base};
}

constexpr Entry kEntries[] = {
    pair("v_pk_fma_f32", "v_fma_f32", 3),
    pair("v_pk_mul_f32", "v_mul_f32", 2),
    pair("v_pk_add_f32", "v_add_f32", 2),
    pair("v_pk_mov_b32", "v_mov_b32", 2),
};

}  // namespace

std::span<const Entry> pair_entries() { return kEntries; }

}  // namespace monojit::emulator
