#include "tests/emulator/encodings.h"

#include <array>
#include <cstring>
#include <random>

#include "runtime/emulator/decode/disassembler.h"

namespace monojit::emulator::test {
namespace {

constexpr std::uint64_t kSeed = 0x0ddba11;
// Most random operands are no registers, or odd ones where LLVM wants even ones, and most instructions want unused bits
// to be zero: bits are drawn in three shapes, each with enough attempts that an instruction comes several times.
enum class Shape : u8 {
  kAny,     ///< all bits random
  kEven,    ///< register fields even: tuples begin at even registers
  kSparse,  ///< besides, bytes are zero as often as not
  kPacked,  ///< besides, op_sel_hi is set, as packed operations have it
};
constexpr Shape kShapes[] = {Shape::kAny, Shape::kEven, Shape::kSparse, Shape::kPacked};
constexpr u32 kAttempts = 400;
constexpr u32 kSamples = 24;  // of each shape

struct Field {
  u32 shift = 0;
  u32 width = 0;
};

/// One encoding: `fixed` under `mask` tells it from the others, `opcode` and `segment` together tell its instructions.
struct Format {
  std::string_view name;
  u32 fixed;
  u32 mask;
  Field opcode;
  Field segment{};
  std::array<u32, 2> odd_bits{};  ///< low bits of register fields, in each word
  Field source{};                 ///< with `source_value`: what makes SDWA and DPP out of VOP1, VOP2 and VOPC
  u32 source_value = 0;
};

constexpr std::array<u32, 2> kVop3Registers = {1u, 1u | 1u << 9 | 1u << 18};
constexpr std::array<u32, 2> kFourBytes = {0, 1u | 1u << 8 | 1u << 16 | 1u << 24};
constexpr Field kSource{0, 9};
constexpr u32 kSdwa = 0xf9, kDpp = 0xfa;

constexpr Format kFormats[] = {
    {"SOP2", 0x80000000, 0xc0000000, {23, 7}, {}, {1u | 1u << 8 | 1u << 16, 0}},
    {"SOPK", 0xb0000000, 0xf0000000, {23, 5}, {}, {1u << 16, 0}},
    {"SOP1", 0xbe800000, 0xff800000, {8, 8}, {}, {1u | 1u << 16, 0}},
    {"SOPC", 0xbf000000, 0xff800000, {16, 7}, {}, {1u | 1u << 8, 0}},
    {"SOPP", 0xbf800000, 0xff800000, {16, 7}},
    {"SMEM", 0xc0000000, 0xfc000000, {18, 8}, {}, {3u << 6, 0}},
    {"VOP1", 0x7e000000, 0xfe000000, {9, 8}, {}, {1u | 1u << 17, 0}},
    {"VOP1 SDWA", 0x7e000000, 0xfe000000, {9, 8}, {}, {}, kSource, kSdwa},
    {"VOP1 DPP", 0x7e000000, 0xfe000000, {9, 8}, {}, {1u << 17, 1}, kSource, kDpp},
    {"VOP2", 0x00000000, 0x80000000, {25, 6}, {}, {1u | 1u << 9 | 1u << 17, 0}},
    {"VOP2 SDWA", 0x00000000, 0x80000000, {25, 6}, {}, {}, kSource, kSdwa},
    {"VOP2 DPP", 0x00000000, 0x80000000, {25, 6}, {}, {1u << 9 | 1u << 17, 1}, kSource, kDpp},
    {"VOPC", 0x7c000000, 0xfe000000, {17, 8}, {}, {1u | 1u << 9, 0}},
    {"VOPC SDWA", 0x7c000000, 0xfe000000, {17, 8}, {}, {}, kSource, kSdwa},
    {"VOPC DPP", 0x7c000000, 0xfe000000, {17, 8}, {}, {1u << 9, 1}, kSource, kDpp},
    {"VOP3", 0xd0000000, 0xfc000000, {16, 10}, {}, kVop3Registers},
    {"VINTRP", 0xd4000000, 0xfc000000, {16, 2}},
    {"EXP", 0xc4000000, 0xfc000000, {4, 6}},
    {"DS", 0xd8000000, 0xfc000000, {17, 8}, {}, kFourBytes},
    {"FLAT", 0xdc000000, 0xfc000000, {18, 7}, {14, 2}, kFourBytes},
    {"MUBUF", 0xe0000000, 0xfc000000, {18, 7}, {16, 1}, kFourBytes},
    {"MTBUF", 0xe8000000, 0xfc000000, {15, 4}, {}, kFourBytes},
    {"MIMG", 0xf0000000, 0xfc000000, {18, 7}, {}, kFourBytes},
};

u32 ones(Field field) { return static_cast<u32>(((u64{1} << field.width) - 1) << field.shift); }

using Words = std::array<u32, 4>;

u32 replaced(u32 word, Field field, u32 value) { return (word & ~ones(field)) | value << field.shift; }

/// v_mfma_scale_*: the scales' own instruction, then the multiplication.
Words scaled_matrix(std::mt19937& random, u32 opcode) {
  return {0xd3ac0000 | (static_cast<u32>(random()) & 0x7800),
          0x18000000 | static_cast<u32>(random() & 0x3ff) << 9 | 1u << 17 | static_cast<u32>(random() & 0xff) | 1u << 8,
          0xd3ac0000 + (opcode << 16), static_cast<u32>(random())};
}

class Enumeration {
 public:
  Enumeration(const ChipLimits& chip, const std::function<void(const Instruction&, std::string_view)>& visit)
      : disassembler_(chip), visit_(visit) {}

  void format(const Format& format) {
    for (u32 segment = 0; segment < 1u << format.segment.width; ++segment) {
      for (u32 opcode = 0; opcode < 1u << format.opcode.width; ++opcode) {
        for (const Shape shape : kShapes) {
          sample(format.name, [&] {
            Words words = draw(format, shape);
            words[0] = (words[0] & ~format.mask) | format.fixed;
            if (format.source_value != 0) words[0] = replaced(words[0], format.source, format.source_value);
            words[0] = replaced(replaced(words[0], format.opcode, opcode), format.segment, segment);
            return words;
          });
        }
      }
    }
  }

  void scaled() {
    for (const u32 opcode : {1u, 2u}) {
      sample("VOP3PX", [&] { return scaled_matrix(random_, opcode); });
    }
  }

 private:
  Words draw(const Format& format, Shape shape) {
    Words words;
    for (u32& word : words) {
      word = static_cast<u32>(random_());
      for (u32 byte = 0; byte < 4 && shape >= Shape::kSparse; ++byte) {
        if (random_() % 2 == 0) word &= ~(0xffu << (8 * byte));
      }
    }
    for (u32 i = 0; i < format.odd_bits.size() && shape != Shape::kAny; ++i) words[i] &= ~format.odd_bits[i];
    if (shape == Shape::kPacked) words[0] |= 1u << 14, words[1] |= 3u << 27;
    return words;
  }

  template <class Make>
  void sample(std::string_view name, Make make) {
    Instruction instruction;
    u32 found = 0;
    for (u32 attempt = 0; attempt < kAttempts && found < kSamples; ++attempt) {
      const Words words = make();
      std::array<u8, sizeof(Words)> bytes;
      std::memcpy(bytes.data(), words.data(), bytes.size());
      if (!disassembler_.decode(bytes, 0x1000, instruction)) continue;
      ++found;
      visit_(instruction, name);
    }
  }

  Disassembler disassembler_;
  const std::function<void(const Instruction&, std::string_view)>& visit_;
  std::mt19937 random_{kSeed};
};

}  // namespace

void for_each_encoding(const ChipLimits& chip,
                       const std::function<void(const Instruction& instruction, std::string_view format)>& visit) {
  Enumeration all(chip, visit);
  for (const Format& format : kFormats) all.format(format);
  all.scaled();
}

}  // namespace monojit::emulator::test
