// Rows of the instruction table for DS instructions.
#pragma once

#include "runtime/emulator/decode/entry.h"
#include "runtime/emulator/numerics/host_isa.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {

consteval Entry lds(std::string_view mnemonic, u8 rows, u16 flags, Handler handler, u8 offset_scale = 0) {
  return {.mnemonic = mnemonic,
          .form = Form::kLds,
          .flags = flags,
          .count = CountClass::kLds,
          .data_rows = rows,
          .offset_scale = offset_scale,
          .handlers = {handler}};
}

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
