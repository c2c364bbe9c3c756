#include "runtime/emulator/checks/instruction_facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/emulator/execute/register_file.h"

namespace monojit::emulator {
namespace {

using std::string_view_literals::operator""sv;

template <std::size_t kCount>
bool begins_with_any(std::string_view text, const std::string_view (&prefixes)[kCount]) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); });
}

InstructionKind kind_of(std::string_view name) {
  constexpr std::string_view kVectorMemory[] = {"buffer_", "tbuffer_", "global_", "scratch_"};
  constexpr std::string_view kScalarMemory[] = {"s_load_",   "s_buffer_", "s_scratch_",   "s_store_",
                                                "s_memtime", "s_atomic_", "s_memrealtime"};
  if (name.starts_with("v_mfma_") || name.starts_with("v_smfmac_")) return InstructionKind::kMatrix;
  if (name == "v_nop") return InstructionKind::kNop;
  if (name.starts_with("v_")) return InstructionKind::kVector;
  if (name.starts_with("ds_") && name != "ds_nop") return InstructionKind::kLds;
  if (name == "buffer_inv" || name.starts_with("buffer_wb")) return InstructionKind::kOther;
  if (begins_with_any(name, kVectorMemory)) return InstructionKind::kVectorMemory;
  if (name.starts_with("flat_")) return InstructionKind::kFlat;
  if (begins_with_any(name, kScalarMemory)) return InstructionKind::kScalarMemory;
  if (name == "s_waitcnt") return InstructionKind::kWait;
  if (name == "s_nop") return InstructionKind::kNop;
  return name.starts_with("s_") ? InstructionKind::kScalar : InstructionKind::kOther;
}

/// Passes (of four cycles) of v_mfma_<result>_<m>x<n>x<k>[_<blocks>b]_<input>. Instructions of one tile size take
/// equally long, whatever k, as narrower inputs are multiplied faster: 2, 4 and 8 for 4x4, 16x16 and 32x32, twice as
/// long for several blocks (but 4x4's) and for f32 inputs; f64 has rates of its own, FP8 in the f8f6f4 forms takes
/// twice as long as FP4.
u32 passes_of(const Instruction& in, Chip chip) {
  const std::string_view name = in.mnemonic;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (name.ends_with("_f64")) return has("4x4x4") ? 4 : chip == Chip::kGfx950 ? 16 : 8;
  if (has("_4x4x")) return 2;
  const u32 single = has("_16x16x") ? 4 : 8;
  if (has("f8f6f4")) {
    constexpr i64 kNarrowestFp6 = 2;  // formats 0 and 1 are FP8 and BF8
    const bool wide = in.number_of("cbsz", 0) < kNarrowestFp6 || in.number_of("blgp", 0) < kNarrowestFp6;
    return wide ? 2 * single : single;
  }
  const bool blocks = has("_2b_") || has("_4b_");
  return blocks || name.ends_with("_f32") ? 2 * single : single;
}

MatrixFacts matrix_facts(const Instruction& in, Chip chip) {
  const std::string_view name = in.mnemonic;
  MatrixFacts facts{.passes = passes_of(in, chip),
                    .xdl = !name.ends_with("_f32") && !name.ends_with("_f64"),
                    .doubles = name.ends_with("_f64"),
                    .small = name.find("4x4x4") != std::string_view::npos,
                    .addend = std::nullopt};
  const std::size_t addend = name.starts_with("v_smfmac_") ? 0 : 3;
  if (addend < in.operands.size() && in.operands[addend].is_row()) {
    const Operand& operand = in.operands[addend];
    facts.addend =
        RegisterUse{.file = operand.kind == Operand::Kind::kVgpr ? RegisterUse::File::kVgpr : RegisterUse::File::kAgpr,
                    .first = static_cast<u16>(operand.index),
                    .count = static_cast<u16>(operand.count)};
  }
  return facts;
}

/// Bytes of one access, by the type at the end of a mnemonic: "_b64", "_u8_d16_hi", "_f32".
u32 lds_access_bytes(std::string_view name) {
  struct Suffix {
    std::string_view text;
    u32 bytes;
  };
  constexpr Suffix kSuffixes[] = {{"b128", 16}, {"b96", 12}, {"64", 8}, {"u16", 2}, {"i16", 2},
                                  {"b16", 2},   {"u8", 1},   {"i8", 1}, {"b8", 1}};
  constexpr std::string_view kWhole[] = {"ds_pk_", "ds_append", "ds_consume"};
  if (begins_with_any(name, kWhole)) return 4;
  const std::size_t type = std::min(name.find("_d16"), name.size());
  const std::string_view stem = name.substr(0, type);
  for (const Suffix& suffix : kSuffixes) {
    if (stem.ends_with(suffix.text)) return suffix.bytes;
  }
  return 4;
}

LdsFacts lds_facts(const Instruction& in) {
  const std::string_view name = in.mnemonic;
  constexpr std::string_view kExchanges[] = {"ds_bpermute", "ds_permute", "ds_swizzle", "ds_gws", "ds_ordered"};
  // Their addresses are not in a vector register, or not one lane's own.
  constexpr std::string_view kElsewhere[] = {"ds_append", "ds_consume", "ds_read_addtid", "ds_write_addtid"};
  if (begins_with_any(name, kExchanges) || begins_with_any(name, kElsewhere)) return {};
  LdsFacts facts{.count = 1, .bytes = lds_access_bytes(name)};
  const bool pair = name.starts_with("ds_read2") || name.starts_with("ds_write2") || name.starts_with("ds_wrxchg2");
  if (name.find("_tr_") != std::string_view::npos) facts.bytes = name.find("b96") != std::string_view::npos ? 12 : 8;
  if (pair) {
    const u32 unit = facts.bytes * (name.find("st64") != std::string_view::npos ? 64 : 1);
    facts.count = 2;
    facts.offsets[0] = static_cast<u32>(in.number_of("offset0", 0)) * unit;
    facts.offsets[1] = static_cast<u32>(in.number_of("offset1", 0)) * unit;
  } else {
    facts.offsets[0] = static_cast<u32>(in.number_of("offset", 0));
  }
  const bool returns = name.starts_with("ds_read") || name.find("_rtn") != std::string_view::npos;
  const std::size_t address = returns ? 1 : 0;
  if (address >= in.operands.size() || in.operands[address].kind != Operand::Kind::kVgpr) return {};
  facts.address = in.operands[address].index;
  facts.reads = !name.starts_with("ds_write");
  facts.writes = !name.starts_with("ds_read");
  return facts;
}

bool crosses_lanes(const Instruction& in) {
  constexpr std::string_view kExchanges[] = {"v_readlane", "v_readfirstlane", "v_writelane",
                                             "v_permlane", "v_mov_b64_dpp",   "v_swap"};
  return in.dpp || begins_with_any(in.mnemonic, kExchanges);
}

bool takes_undefined(std::string_view name) {
  constexpr std::string_view kSelections[] = {"v_cndmask",      "v_perm_", "v_pack_",   "v_cvt_pk",  "v_cvt_sr",
                                              "v_cvt_scalef32", "v_pk_",   "v_bfi_",    "v_bfe_",    "v_and_",
                                              "v_or_",          "v_or3_",  "v_and_or_", "v_lshl_or", "v_alignb",
                                              "v_bitop3",       "v_lshl",  "v_lshr",    "v_xor"};
  return begins_with_any(name, kSelections);
}

}  // namespace

InstructionFacts facts_of(const Instruction& in, const MachineFacts& machine, Chip chip) {
  InstructionFacts facts;
  facts.kind = kind_of(in.mnemonic);
  facts.registers = machine.registers;
  std::ranges::stable_partition(facts.registers, [](const RegisterUse& use) { return !use.written; });
  facts.dot = in.mnemonic.starts_with("v_dot");
  facts.crosses_lanes = crosses_lanes(in);
  facts.takes_undefined = in.sdwa || takes_undefined(in.mnemonic);
  // LLVM leaves the high word of an addend undefined where it wants the low word of the sum alone.
  facts.low_from_low = in.mnemonic.starts_with("v_mad_u64_u32") || in.mnemonic.starts_with("v_mad_i64_i32");
  switch (facts.kind) {
    case InstructionKind::kNop:
      facts.wait_states = in.mnemonic == "s_nop" ? (in.simm16() & 15) + 1 : 1;
      break;
    case InstructionKind::kWait:
      facts.waits = WaitCounts::of(in.simm16());
      break;
    case InstructionKind::kMatrix:
      facts.matrix = matrix_facts(in, chip);
      break;
    case InstructionKind::kLds:
      facts.lds = lds_facts(in);
      break;
    case InstructionKind::kScalarMemory:
      facts.scalar_results = in.mnemonic.ends_with("_dword") ? 1 : 2;
      break;
    default:
      break;
  }
  return facts;
}

std::string register_name(RegisterUse::File file, u32 first, u32 count) {
  if (file == RegisterUse::File::kScalar && first >= kFlatScratchWord) {
    if (first == kM0Word) return "m0";
    if (first >= kTtmpWord && first < kM0Word) return fmt::format("ttmp{}", first - kTtmpWord);
    const std::string_view pair = first >= kExecWord        ? "exec"sv
                                  : first >= kVccWord       ? "vcc"sv
                                  : first >= kXnackMaskWord ? "xnack_mask"sv
                                                            : "flat_scratch"sv;
    return std::string(pair) + (count == 2 ? "" : first % 2 == 0 ? "_lo" : "_hi");
  }
  const char letter = file == RegisterUse::File::kVgpr ? 'v' : file == RegisterUse::File::kAgpr ? 'a' : 's';
  return count == 1 ? fmt::format("{}{}", letter, first) : fmt::format("{}[{}:{}]", letter, first, first + count - 1);
}

}  // namespace monojit::emulator
