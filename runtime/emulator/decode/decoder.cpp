#include "runtime/emulator/decode/decoder.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/emulator/code/module.h"
#include "runtime/emulator/decode/lowering.h"
#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

struct CodeRange {
  u64 begin;
  u64 end;
};

/// The function that holds `entry`: to the end of its symbol, or to the next symbol, or to the end of the segment.
CodeRange function_at(const Module& module, u64 entry) {
  u64 end = 0;
  for (const ElfSegment& segment : module.image().segments) {
    if (segment.executable && entry >= segment.address && entry < segment.address + segment.content.size()) {
      end = segment.address + segment.content.size();
    }
  }
  if (end == 0) throw Failure(FailureKind::kInvalidImage, fmt::format("code object: no code at {:#x}", entry));
  for (const ElfSymbol& symbol : module.image().symbols) {
    if (!symbol.defined) continue;
    if (symbol.function && symbol.bytes > 0 && entry >= symbol.address && entry < symbol.address + symbol.bytes) {
      return {entry, std::min(end, symbol.address + symbol.bytes)};
    }
    if (symbol.function && symbol.address > entry) end = std::min(end, symbol.address);
  }
  return {entry, end};
}

/// All functions of the module that are no kernels: what calls through registers may reach.
std::vector<CodeRange> called_functions(const Module& module, const CodeRange& kernel) {
  std::vector<CodeRange> ranges;
  const auto names = module.image().kernel_names();
  for (const ElfSymbol& symbol : module.image().symbols) {
    if (!symbol.defined || !symbol.function || symbol.address == kernel.begin) continue;
    if (std::ranges::find(names, symbol.name) != names.end()) continue;
    ranges.push_back(function_at(module, symbol.address));
  }
  return ranges;
}

/// Whether the code holds s_setpc_b64, s_swappc_b64 or s_call_b64 (or a literal that looks like one, which does no
/// harm).
bool may_leave(std::span<const u8> code) {
  constexpr u32 kSop1Mask = 0xff80ff00, kSetPc = 0xbe801d00, kSwapPc = 0xbe801e00;
  constexpr u32 kSopkMask = 0xff800000, kCall = 0xba800000;
  for (std::size_t i = 0; i + 4 <= code.size(); i += 4) {
    u32 word;
    std::memcpy(&word, code.data() + i, 4);
    if ((word & kSop1Mask) == kSetPc || (word & kSop1Mask) == kSwapPc || (word & kSopkMask) == kCall) return true;
  }
  return false;
}

/// Whether the code holds s_setvskip (or, harmlessly, a literal that looks like one).
bool may_skip(std::span<const u8> code) {
  constexpr u32 kMask = 0xffff0000, kSetSkip = 0xbf100000;
  for (std::size_t i = 0; i + 4 <= code.size(); i += 4) {
    u32 word;
    std::memcpy(&word, code.data() + i, 4);
    if ((word & kMask) == kSetSkip) return true;
  }
  return false;
}

}  // namespace

Decoder::Decoder(const ChipLimits& chip, MatrixModel matrix, HostIsa isa)
    : chip_(chip), matrix_(matrix), table_(chip, isa), disassembler_(chip) {}

std::unique_ptr<const Program> Decoder::decode(const Module& module, const Kernel& kernel,
                                               ProgramVariant variant) const {
  const std::lock_guard lock(mutex_);
  Instruction instruction;
  MachineFacts facts;
  const auto decode_at = [&](u64 address, u64 end) {
    const bool decoded = disassembler_.decode(module.loaded(address, end - address), address, instruction,
                                              variant == ProgramVariant::kChecked ? &facts : nullptr);
    if (instruction.bytes == 0) throw Failure(FailureKind::kInvalidImage, "code object: code that does not end");
    return decoded;
  };
  std::vector<CodeRange> ranges{function_at(module, kernel.entry)};
  if (may_leave(module.loaded(ranges[0].begin, ranges[0].end - ranges[0].begin))) {
    const auto others = called_functions(module, ranges[0]);
    ranges.insert(ranges.end(), others.begin(), others.end());
  }
  std::ranges::sort(ranges, {}, &CodeRange::begin);

  auto program = std::make_unique<Program>();
  program->kernel = kernel.name;
  program->load_bias = module.load_bias();
  program->file = module.file();
  for (const CodeRange& range : ranges) {
    program->may_skip |= may_skip(module.loaded(range.begin, range.end - range.begin));
  }
  Lowering lowering(table_, chip_, matrix_, {kernel.descriptor.vgprs, kernel.descriptor.agprs}, variant, *program);
  for (const CodeRange& range : ranges) {
    for (u64 address = range.begin; address < range.end; address += instruction.bytes) {
      const bool decoded = decode_at(address, range.end);
      lowering.lower(instruction, decoded, facts);
    }
  }
  lowering.finish();
  return program;
}

}  // namespace monojit::emulator
