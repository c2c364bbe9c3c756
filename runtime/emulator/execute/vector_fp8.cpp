// Conversions to and from FP8, BF8 and FP4. gfx942 has the FNUZ encodings, gfx950 the OCP ones and the forms with a
// scale. The lowering puts narrow results into the half or byte of the destination that op_sel names.
#include "runtime/emulator/decode/tables.h"
#include "runtime/emulator/execute/lanes.h"
#include "runtime/emulator/numerics/bf16.h"
#include "runtime/emulator/numerics/f16.h"
#include "runtime/emulator/numerics/fp8.h"
#include "runtime/emulator/numerics/mx.h"

namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE {
namespace {

namespace n = numerics;
using n::Fp8;

MONOJIT_EMULATOR_INLINE u32 half_of(u32 x, bool high) { return high ? x >> 16 : x & 0xffff; }
MONOJIT_EMULATOR_INLINE u32 selected_byte(u32 x, Select select) {
  return x >> ((select.bit(0) ? 8u : 0u) + (select.bit(1) ? 16u : 0u)) & 0xff;
}
MONOJIT_EMULATOR_INLINE u64 two_rows(u32 low, u32 high) { return u64{low} | u64{high} << 32; }
MONOJIT_EMULATOR_INLINE u32 pack16(u32 low, u32 high) { return (low & 0xffff) | high << 16; }
MONOJIT_EMULATOR_INLINE u32 low_word(u64 x) { return static_cast<u32>(x); }
MONOJIT_EMULATOR_INLINE u32 high_word(u64 x) { return static_cast<u32>(x >> 32); }

// Sixteen-bit formats that FP8 and FP4 are made from or widened to.
struct HalfFormat {
  MONOJIT_EMULATOR_INLINE static u32 to_f32(u32 bits) { return n::decode_f16(bits & 0xffff); }
  MONOJIT_EMULATOR_INLINE static u32 from_f32(u32 bits) { return n::encode_f16(bits, false); }
};
struct BrainFormat {
  MONOJIT_EMULATOR_INLINE static u32 to_f32(u32 bits) { return n::decode_bf16(bits & 0xffff); }
  MONOJIT_EMULATOR_INLINE static u32 from_f32(u32 bits) { return n::encode_bf16(bits); }
};

// All of this rounds to nearest even whatever MODE says. f32 sources and results obey its denormal bits, the others
// keep theirs.
MONOJIT_EMULATOR_INLINE u32 source(u32 f32, NearestMode mode) { return mode.flush_in32 ? n::flush_denormal(f32) : f32; }
MONOJIT_EMULATOR_INLINE u32 result(u32 f32, NearestMode mode) {
  return mode.flush_out32 ? n::flush_denormal(f32) : f32;
}

constexpr u16 kHalfResult = kSelectsInOp | kInsertsHalf;
constexpr u16 kByteResult = kSelectsInOp | kInsertsByte;

template <Fp8 kKind>
consteval Entry narrow_pair(std::string_view mnemonic) {
  return vector<[](u32 low, u32 high, NearestMode mode) {
    return n::encode_fp8_pair<kKind>(low, high, mode.fp16_ovfl);
  }>(mnemonic, kHalfResult);
}
template <Fp8 kKind>
consteval Entry narrow_stochastic(std::string_view mnemonic) {
  return vector<[](u32 value, u32 seed, NearestMode mode) {
    return n::encode_fp8_stochastic<kKind>(value, seed, mode.fp16_ovfl);
  }>(mnemonic, kByteResult);
}
template <Fp8 kKind>
consteval Entry widen_one(std::string_view mnemonic) {
  return vector<[](u32 code) { return n::decode_fp8<kKind>(code); }>(mnemonic);
}
template <Fp8 kKind>
consteval Entry widen_pair(std::string_view mnemonic) {
  return vector<[](u32 codes) { return two_rows(n::decode_fp8<kKind>(codes), n::decode_fp8<kKind>(codes >> 8)); }>(
      mnemonic);
}

template <Fp8 kKind>
consteval Entry scaled_pair(std::string_view mnemonic) {
  return vector<[](u32 low, u32 high, u32 scale, NearestMode mode) {
    return n::scaled_fp8_pair<kKind>(source(low, mode), source(high, mode), scale, mode.fp16_ovfl);
  }>(mnemonic, kHalfResult);
}
template <Fp8 kKind, class From>
consteval Entry scaled_pair_16(std::string_view mnemonic) {
  return vector<[](u32 pair, u32 scale, NearestMode mode) {
    return n::scaled_fp8_pair<kKind>(From::to_f32(pair), From::to_f32(pair >> 16), scale, mode.fp16_ovfl);
  }>(mnemonic, kHalfResult);
}
template <Fp8 kKind>
consteval Entry scaled_stochastic(std::string_view mnemonic) {
  return vector<[](u32 value, u32 seed, u32 scale, NearestMode mode) {
    return n::scaled_fp8_stochastic<kKind>(source(value, mode), seed, scale, mode.fp16_ovfl);
  }>(mnemonic, kByteResult);
}
template <Fp8 kKind, class From>
consteval Entry scaled_stochastic_16(std::string_view mnemonic) {
  return vector<[](u32 value, u32 seed, u32 scale, NearestMode mode) {
    return n::scaled_fp8_stochastic<kKind>(From::to_f32(value), seed, scale, mode.fp16_ovfl);
  }>(mnemonic, kByteResult);
}
template <Fp8 kKind>
consteval Entry scaled_widen(std::string_view mnemonic) {
  return vector<[](u32 codes, u32 scale, Select select, NearestMode mode) {
    return result(n::widen_scaled_fp8<kKind>(selected_byte(codes, select), scale), mode);
  }>(mnemonic, kSelectsInOp);
}
template <Fp8 kKind>
consteval Entry scaled_widen_half(std::string_view mnemonic) {
  return vector<[](u32 codes, u32 scale, Select select, NearestMode) {
    return HalfFormat::from_f32(n::widen_scaled_fp8<kKind>(selected_byte(codes, select), scale));
  }>(mnemonic, kHalfResult);
}
template <Fp8 kKind>
consteval Entry scaled_widen_pair(std::string_view mnemonic) {
  return vector<[](u32 codes, u32 scale, Select select, NearestMode mode) {
    const u32 pair = half_of(codes, select.bit(0));
    return two_rows(result(n::widen_scaled_fp8<kKind>(pair, scale), mode),
                    result(n::widen_scaled_fp8<kKind>(pair >> 8, scale), mode));
  }>(mnemonic, kSelectsInOp);
}
template <Fp8 kKind, class To>
consteval Entry scaled_widen_pair_16(std::string_view mnemonic) {
  return vector<[](u32 codes, u32 scale, Select select, NearestMode) {
    const u32 pair = half_of(codes, select.bit(0));
    return pack16(To::from_f32(n::widen_scaled_fp8<kKind>(pair, scale)),
                  To::from_f32(n::widen_scaled_fp8<kKind>(pair >> 8, scale)));
  }>(mnemonic, kSelectsInOp);
}

MONOJIT_EMULATOR_INLINE u32 fp4(u32 codes, bool second, u32 scale) {
  return n::widen_scaled<n::kFormatE2M1>(second ? codes >> 4 : codes, scale);
}

template <class From>
consteval Entry fp4_from_16(std::string_view mnemonic) {
  return vector<[](u32 pair, u32 scale, NearestMode) {
    return n::scaled_fp4_pair(From::to_f32(pair), From::to_f32(pair >> 16), scale);
  }>(mnemonic, kByteResult);
}
template <class From>
consteval Entry fp4_from_16_stochastic(std::string_view mnemonic) {
  return vector<[](u32 pair, u32 seed, u32 scale, NearestMode) {
    return n::scaled_fp4_pair_stochastic(From::to_f32(pair), From::to_f32(pair >> 16), seed, scale);
  }>(mnemonic, kByteResult);
}
template <class To>
consteval Entry fp4_to_16(std::string_view mnemonic) {
  return vector<[](u32 codes, u32 scale, Select select, NearestMode) {
    const u32 byte = selected_byte(codes, select);
    return pack16(To::from_f32(fp4(byte, false, scale)), To::from_f32(fp4(byte, true, scale)));
  }>(mnemonic, kSelectsInOp);
}

#define MONOJIT_SCALED_FP8(kind, name)                                                                     \
  scaled_pair<kind>("v_cvt_scalef32_pk_" name "_f32"),                                                     \
      scaled_pair_16<kind, HalfFormat>("v_cvt_scalef32_pk_" name "_f16"),                                  \
      scaled_pair_16<kind, BrainFormat>("v_cvt_scalef32_pk_" name "_bf16"),                                \
      scaled_stochastic<kind>("v_cvt_scalef32_sr_" name "_f32"),                                           \
      scaled_stochastic_16<kind, HalfFormat>("v_cvt_scalef32_sr_" name "_f16"),                            \
      scaled_stochastic_16<kind, BrainFormat>("v_cvt_scalef32_sr_" name "_bf16"),                          \
      scaled_widen<kind>("v_cvt_scalef32_f32_" name), scaled_widen_half<kind>("v_cvt_scalef32_f16_" name), \
      scaled_widen_pair<kind>("v_cvt_scalef32_pk_f32_" name),                                              \
      scaled_widen_pair_16<kind, HalfFormat>("v_cvt_scalef32_pk_f16_" name),                               \
      scaled_widen_pair_16<kind, BrainFormat>("v_cvt_scalef32_pk_bf16_" name)

constexpr Entry kEntries[] = {
    narrow_pair<Fp8::kE4M3>("v_cvt_pk_fp8_f32@gfx950"),
    narrow_pair<Fp8::kE5M2>("v_cvt_pk_bf8_f32@gfx950"),
    narrow_stochastic<Fp8::kE4M3>("v_cvt_sr_fp8_f32@gfx950"),
    narrow_stochastic<Fp8::kE5M2>("v_cvt_sr_bf8_f32@gfx950"),
    widen_one<Fp8::kE4M3>("v_cvt_f32_fp8@gfx950"),
    widen_one<Fp8::kE5M2>("v_cvt_f32_bf8@gfx950"),
    widen_pair<Fp8::kE4M3>("v_cvt_pk_f32_fp8@gfx950"),
    widen_pair<Fp8::kE5M2>("v_cvt_pk_f32_bf8@gfx950"),
    narrow_pair<Fp8::kE4M3Fnuz>("v_cvt_pk_fp8_f32@gfx942"),
    narrow_pair<Fp8::kE5M2Fnuz>("v_cvt_pk_bf8_f32@gfx942"),
    narrow_stochastic<Fp8::kE4M3Fnuz>("v_cvt_sr_fp8_f32@gfx942"),
    narrow_stochastic<Fp8::kE5M2Fnuz>("v_cvt_sr_bf8_f32@gfx942"),
    widen_one<Fp8::kE4M3Fnuz>("v_cvt_f32_fp8@gfx942"),
    widen_one<Fp8::kE5M2Fnuz>("v_cvt_f32_bf8@gfx942"),
    widen_pair<Fp8::kE4M3Fnuz>("v_cvt_pk_f32_fp8@gfx942"),
    widen_pair<Fp8::kE5M2Fnuz>("v_cvt_pk_f32_bf8@gfx942"),
    MONOJIT_SCALED_FP8(Fp8::kE4M3, "fp8"),
    MONOJIT_SCALED_FP8(Fp8::kE5M2, "bf8"),
    vector<[](u32 low, u32 high, u32 scale, NearestMode mode) {
      return n::scaled_fp4_pair(source(low, mode), source(high, mode), scale);
    }>("v_cvt_scalef32_pk_fp4_f32", kByteResult),
    vector<[](u64 pair, u32 seed, u32 scale, NearestMode mode) {
      return n::scaled_fp4_pair_stochastic(source(low_word(pair), mode), source(high_word(pair), mode), seed, scale);
    }>("v_cvt_scalef32_sr_pk_fp4_f32", kByteResult),
    fp4_from_16<HalfFormat>("v_cvt_scalef32_pk_fp4_f16"),
    fp4_from_16<BrainFormat>("v_cvt_scalef32_pk_fp4_bf16"),
    fp4_from_16_stochastic<HalfFormat>("v_cvt_scalef32_sr_pk_fp4_f16"),
    fp4_from_16_stochastic<BrainFormat>("v_cvt_scalef32_sr_pk_fp4_bf16"),
    vector<[](u32 codes, u32 scale, Select select, NearestMode mode) {
      const u32 byte = selected_byte(codes, select);
      return two_rows(result(fp4(byte, false, scale), mode), result(fp4(byte, true, scale), mode));
    }>("v_cvt_scalef32_pk_f32_fp4", kSelectsInOp),
    fp4_to_16<HalfFormat>("v_cvt_scalef32_pk_f16_fp4"),
    fp4_to_16<BrainFormat>("v_cvt_scalef32_pk_bf16_fp4"),
};

#undef MONOJIT_SCALED_FP8

}  // namespace

std::span<const Entry> vector_fp8_entries() { return kEntries; }

}  // namespace monojit::emulator::MONOJIT_HOST_ISA_NAMESPACE
