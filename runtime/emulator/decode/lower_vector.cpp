// VOP1, VOP2, VOP3, VOP3P, VOPC with their SDWA and DPP forms.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/emulator/decode/lowering.h"
#include "runtime/emulator/execute/register_file.h"
#include "runtime/emulator/execute/step_flags.h"

namespace monojit::emulator {
namespace {

constexpr u32 kVop3Encoding = 0x34;  // bits 31:26 of a VOP3 or VOP3P instruction
constexpr u32 kOpSelShift = 11;
constexpr u32 kOpSelDestination = 8;  // op_sel[3]

bool has_op_sel(const Instruction& in) { return (in.encoding >> 26 & 0x3f) == kVop3Encoding && !in.dpp && !in.sdwa; }
u32 op_sel(const Instruction& in) { return has_op_sel(in) ? static_cast<u32>(in.encoding >> kOpSelShift & 15) : 0; }

/// v_fma_mix_*: op_sel in bits 0..2, op_sel_hi in 3..5, neg in 6..8, abs in 9..11.
u32 mix_bits(const Instruction& in) {
  const u32 op_sel_hi = static_cast<u32>(in.encoding >> 59 & 3) | static_cast<u32>(in.encoding >> 14 & 1) << 2;
  return static_cast<u32>(in.encoding >> 11 & 7) | op_sel_hi << 3 | static_cast<u32>(in.encoding >> 61 & 7) << 6 |
         static_cast<u32>(in.encoding >> 8 & 7) << 9;
}

bool is_float(std::string_view mnemonic, std::string_view type) {
  if (mnemonic.starts_with("v_cvt_")) return mnemonic.substr(6).starts_with(type);
  return mnemonic.ends_with(type);
}

/// What output modifiers see in the result; nothing: an integer, or an 8-bit conversion, which ignores them.
std::string_view result_type(const Instruction& in, const Entry& entry) {
  if (in.mnemonic == "v_cvt_pk_bf16_f32") return "pk_bf16";
  if (in.mnemonic == "v_cvt_pkrtz_f16_f32" || in.mnemonic == "v_cvt_pk_f16_f32" || in.mnemonic == "v_pk_fmac_f16")
    return "pk_f16";
  if (in.mnemonic.starts_with("v_dot2_f32_") || in.mnemonic.starts_with("v_dot2c_f32_")) return "f32";
  if ((entry.flags & kPacked) != 0) return in.mnemonic.ends_with("f16") ? "pk_f16" : "";
  for (const std::string_view type : {"f16", "f32", "f64"}) {
    if (is_float(in.mnemonic, type)) return type;
  }
  return "";
}

u32 rows_of(OperandType type) { return type == OperandType::k64 || type == OperandType::kF64 ? 2 : 1; }

// EXEC as it was before a DPP instruction narrowed it: the last two temporary scalars.
constexpr u32 kSavedExecOffset = scalar_offset(kTemporaryScalarWord + kTemporaryScalars - 2);

struct SdwaSelect {
  std::string_view name;
  u32 shift;
  u32 width;
};
constexpr SdwaSelect kSdwaSelects[] = {{"BYTE_0", 0, 8},  {"BYTE_1", 8, 8},  {"BYTE_2", 16, 8},
                                       {"BYTE_3", 24, 8}, {"WORD_0", 0, 16}, {"WORD_1", 16, 16}};

const SdwaSelect* sdwa_select(std::optional<std::string_view> name) {
  for (const SdwaSelect& select : kSdwaSelects) {
    if (name && select.name == *name) return &select;
  }
  return nullptr;
}

}  // namespace

Lowering::Source Lowering::in_row(Source source, OperandType type) {
  if (source.row) return source;
  const u32 rows = rows_of(type);
  const u32 target = temporary_row(rows);
  for (u32 i = 0; i < rows; ++i)
    add(table_.step(".broadcast").handlers[0], target + i * kRowBytes, source.offset + 4 * i);
  return {target, true};
}

Lowering::Source Lowering::select_sdwa(const Instruction& in, u32 index, const Operand& operand, Source source) {
  const SdwaSelect* const select = sdwa_select(in.value_of(index == 0 ? "src0_sel" : "src1_sel"));
  if (select == nullptr) return source;
  const u32 target = temporary_row();
  add(table_.step(".extract").handlers[0], target, in_row(source, OperandType::k32).offset, 0, 0,
      select->shift | select->width << 5 | (operand.sign_extend ? 1u << 11 : 0));
  return {target, true};
}

Lowering::Source Lowering::move_lanes(const Instruction& in, OperandType type, Source source) {
  const u32 permutation = permutation_of(in);
  const u32 rows = rows_of(type);
  const u32 target = temporary_row(rows);
  const u32 moved = in_row(source, type).offset;
  add(table_.step(".begin_dpp").handlers[0], target, moved, kSavedExecOffset, 0, permutation);
  if (rows == 2)
    add(table_.step(".move_dpp_high").handlers[0], target + kRowBytes, moved + kRowBytes, 0, 0, permutation);
  return {target, true};
}

void Lowering::end_moved_lanes() { add(table_.step(".end_dpp").handlers[0], 0, 0, kSavedExecOffset); }

Lowering::Source Lowering::select_half(const Instruction& in, const Entry& entry, u32 index, OperandType type,
                                       Source source) {
  if ((entry.flags & kPacked) != 0) {
    if (in.mnemonic.starts_with("v_dot") && index == 2) return source;  // the sum, a whole register
    const u32 low = op_sel(in) >> index & 1;
    const u32 high =
        index < 2 ? static_cast<u32>(in.encoding >> (59 + index) & 1) : static_cast<u32>(in.encoding >> 14 & 1);
    const u32 signs = static_cast<u32>(in.encoding >> (61 + index) & 1) << 15 |
                      static_cast<u32>(in.encoding >> (8 + index) & 1) << 31;
    const u32 flip = in.mnemonic.ends_with("f16") ? signs : 0;
    if (low == 0 && high == 1 && flip == 0) return source;
    const u32 target = temporary_row();
    add(table_.step(".arrange_halves").handlers[0], target, in_row(source, type).offset, 0, 0, low | high << 1, flip);
    return {target, true};
  }
  const bool of_semantic = (entry.flags & (kSelectsInOp | kMixes)) != 0 && !in.mnemonic.starts_with("v_bitop3");
  if (type != OperandType::k16 || of_semantic || (op_sel(in) >> index & 1) == 0) return source;
  const u32 target = temporary_row();
  add(table_.step(".extract").handlers[0], target, in_row(source, type).offset, 0, 0, 16 | 16 << 5);
  return {target, true};
}

Lowering::Source Lowering::apply_sign(const Operand& operand, OperandType type, Source source) {
  if (!operand.negate && !operand.absolute) return source;
  const u32 sign = type == OperandType::k16 ? 0x8000 : 0x80000000;
  const u32 keep = operand.absolute ? ~sign : ~0u;
  const u32 flip = operand.negate ? sign : 0;
  const u32 words = rows_of(type);
  const auto& step = table_.step(source.row ? ".modify" : ".modify_scalar");
  const u32 stride = source.row ? kRowBytes : 4;
  const u32 target = source.row ? temporary_row(words) : temporary_scalar(words);
  for (u32 i = 0; i < words; ++i) {
    const bool top = i + 1 == words;
    add(step.handlers[0], target + i * stride, source.offset + i * stride, 0, 0, top ? keep : ~0u, top ? flip : 0);
  }
  return {target, source.row};
}

Lowering::Source Lowering::vector_source(const Instruction& in, const Entry& entry, u32 index, const Operand& operand) {
  const OperandType type = entry.sources[index];
  Source result = type == OperandType::kMask ? Source{scalar(operand, type), false} : source(operand, type);
  if (type == OperandType::kMask) return result;
  if (in.sdwa) result = select_sdwa(in, index, operand, result);
  if (in.dpp && index == 0) result = move_lanes(in, type, result);
  result = select_half(in, entry, index, type, result);
  return (entry.flags & (kMixes | kPacked)) != 0 ? result : apply_sign(operand, type, result);
}

void Lowering::emit_vector(const Entry& entry, u32 destination, const std::vector<Source>& sources, u32 aux) {
  std::vector<Source> placed = sources;
  u32 rows = 0;
  for (u32 i = 0; i < placed.size(); ++i) rows |= placed[i].row && entry.sources[i] != OperandType::kMask ? 1u << i : 0;
  if (entry.handlers[rows] == nullptr) {
    placed[0] = in_row(placed[0], entry.sources[0]);
    rows |= 1;
  }
  if (entry.handlers[rows] == nullptr) throw Unsupported("has a combination of operands that is not known");
  placed.resize(4);
  add(entry.handlers[rows], destination, placed[0].offset, placed[1].offset, placed[2].offset, placed[3].offset, aux);
}

/// Output modifiers, in place.
void Lowering::finish_result(const Instruction& in, const Entry& entry, u32 result) {
  const auto apply = [&](const char* step, std::string_view type, u32 aux) {
    add(table_.step(fmt::format("{}_{}", step, type)).handlers[1], result, result, 0, 0, 0, aux);
  };
  const std::string_view type = result_type(in, entry);
  const i64 factor = in.number_of("mul", 0);
  const i64 divisor = in.number_of("div", 0);
  // Integers have no output modifier, and cannot overflow where there is no saturating row (vector_saturating.cpp).
  if (type.empty()) return;
  if ((factor != 0 || divisor != 0) && type != "pk_bf16") apply(".omod", type, factor == 2 ? 1 : factor == 4 ? 2 : 3);
  if (in.has("clamp")) apply(".clamp", type, 0);
}

/// Which part of its register the instruction writes; nothing means all of it.
std::optional<Lowering::RegisterPart> Lowering::written_part(const Instruction& in, const Entry& entry) {
  const u32 select = op_sel(in);
  if ((entry.flags & kInsertsLow) != 0) return RegisterPart{.shift = 0, .width = 16};
  if ((entry.flags & kInsertsHigh) != 0) return RegisterPart{.shift = 16, .width = 16};
  if ((entry.flags & kInsertsByte) != 0) return RegisterPart{.shift = (select >> 2 & 3) * 8, .width = 8};
  const bool upper = (select & kOpSelDestination) != 0;
  if ((entry.flags & kInsertsHalf) != 0 || (upper && entry.result == OperandType::k16)) {
    return RegisterPart{.shift = upper ? 16u : 0u, .width = 16};
  }
  const SdwaSelect* const selected = in.sdwa ? sdwa_select(in.value_of("dst_sel")) : nullptr;
  if (selected == nullptr) return std::nullopt;
  return RegisterPart{.shift = selected->shift,
                      .width = selected->width,
                      .keeps_rest = in.value_of("dst_unused") == "UNUSED_PRESERVE",
                      .extends_sign = in.value_of("dst_unused") == "UNUSED_SEXT"};
}

/// Bits of the instruction that the semantic takes as an operand.
u32 Lowering::semantic_bits(const Instruction& in, const Entry& entry) {
  if ((entry.flags & kMixes) != 0) return mix_bits(in);
  if ((entry.flags & kSelectsInOp) == 0) return 0;
  return in.mnemonic.starts_with("v_bitop3") ? static_cast<u32>(in.number_of("bitop3", 0)) : op_sel(in);
}

std::vector<Lowering::Source> Lowering::vector_sources(const Instruction& in, const Entry& entry, std::size_t first,
                                                       u32 destination) {
  std::vector<Source> sources;
  const u32 implied = ((entry.flags & kTied) != 0 ? 1 : 0) + ((entry.flags & kVccSource) != 0 ? 1 : 0);
  for (u32 i = 0; i + implied < entry.source_count; ++i) {
    sources.push_back(vector_source(in, entry, i, operand(in, first + i)));
  }
  if ((entry.flags & kTied) != 0) sources.push_back({destination, true});
  if ((entry.flags & kVccSource) != 0) sources.push_back({scalar_offset(kVccWord), false});
  return sources;
}

void Lowering::lower_compare(const Instruction& in, const Entry& entry) {
  const u32 destination = scalar(operand(in, 0), OperandType::kMask);
  emit_vector(entry, destination, vector_sources(in, entry, 1, destination), 0);
  if (in.dpp) end_moved_lanes();
  if (in.mnemonic.starts_with("v_cmpx_")) {
    add(table_.step("s_mov_b64").handlers[0], scalar_offset(kExecWord), destination);
  }
}

void Lowering::lower_vector(const Instruction& in, const Entry& plain) {
  // Integer results saturate: that is another semantic, with a row of its own.
  const Entry* const saturating = in.has("clamp") ? table_.find(std::string(in.mnemonic) + "+clamp") : nullptr;
  const Entry& entry = saturating != nullptr ? *saturating : plain;
  if (entry.form == Form::kCompare) return lower_compare(in, entry);
  const u32 destination = row(operand(in, 0));
  if (in.mnemonic == "v_mov_b32" && in.dpp) {
    const Source moved = in_row(source(operand(in, 1), OperandType::k32), OperandType::k32);
    add(table_.step(".mov_dpp").handlers[0], destination, moved.offset, 0, 0, permutation_of(in));
    return;
  }
  const u32 aux = entry.mask_result ? scalar(operand(in, 1), OperandType::kMask) : semantic_bits(in, entry);
  const auto sources = vector_sources(in, entry, entry.mask_result ? 2 : 1, destination);

  // A result for part of a register is made in a temporary row and put in place afterwards.
  const auto part = written_part(in, entry);
  const u32 result = part ? temporary_row() : destination;
  emit_vector(entry, result, sources, aux);
  if (saturating == nullptr) finish_result(in, entry, result);
  if (part) {
    add(table_.step(".insert").handlers[0], destination, result, 0, 0, part->shift,
        part->width | (part->keeps_rest ? kInsertKeepsRest : 0) | (part->extends_sign ? kInsertExtendsSign : 0));
  }
  if (in.dpp) end_moved_lanes();
}

}  // namespace monojit::emulator
