#include "tests/emulator/numerics_matrix_support.h"

#include <fstream>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace monojit::emulator::numerics_test {
namespace {

using nlohmann::json;

const json& layouts() {
  static const json kLayouts = [] {
    std::ifstream file(MONOJIT_TEST_DATA "/mfma_layouts.json");
    return json::parse(file);
  }();
  return kLayouts;
}

LaneMap lane_map(const json& from) { return {from.at("item"), from.at("lane")}; }

/// Field widths of a float type; exponent bias last.
struct Fields {
  int exponent_bits, mantissa_bits, bias;
};

Fields fields_of(const std::string& type, Chip chip) {
  const int fnuz = chip == Chip::kGfx942 ? 1 : 0;
  if (type == "f16") return {5, 10, 15};
  if (type == "bf16") return {8, 7, 127};
  if (type == "f32" || type == "xf32") return {8, 23, 127};
  if (type == "f64") return {11, 52, 1023};
  if (type == "fp8") return {4, 3, 7 + fnuz};
  if (type == "bf8") return {5, 2, 15 + fnuz};
  if (type == "e2m3") return {2, 3, 1};
  if (type == "e3m2") return {3, 2, 3};
  if (type == "e2m1") return {2, 1, 1};
  throw std::runtime_error("no such type: " + type);
}

}  // namespace

std::vector<Instruction> load_instructions() {
  std::vector<Instruction> instructions;
  for (const json& entry : layouts().at("mfma")) {
    Instruction what;
    what.name = entry.at("name");
    what.chips = entry.at("arch").get<std::vector<std::string>>();
    what.m = entry.at("M");
    what.n = entry.at("N");
    what.k = entry.at("K");
    what.blocks = entry.at("blocks");
    what.a_type = entry.at("types").at("a");
    what.b_type = entry.at("types").at("b");
    what.result_type = entry.at("types").at("cd");
    what.a_rows = entry.at("vgprs").at("a");
    what.b_rows = entry.at("vgprs").at("b");
    what.result_rows = entry.at("vgprs").at("cd");
    what.a = lane_map(entry.at("A"));
    what.b = lane_map(entry.at("B"));
    what.result = lane_map(entry.at("CD"));
    instructions.push_back(what);
  }
  return instructions;
}

std::vector<ScaledInstruction> load_scaled_instructions() {
  std::vector<ScaledInstruction> instructions;
  for (const json& entry : layouts().at("mfma_f8f6f4").at("entries")) {
    ScaledInstruction what;
    what.unscaled = entry.at("unscaled");
    what.scaled = entry.at("scaled");
    what.m = entry.at("M");
    what.k = entry.at("K");
    for (const int width : {8, 6, 4}) {
      what.a[width] = lane_map(entry.at("A").at(std::to_string(width) + "bit"));
      what.b[width] = lane_map(entry.at("B").at(std::to_string(width) + "bit"));
    }
    what.result = lane_map(entry.at("CD"));
    what.a_scale = entry.at("scale").at("lane_A").get<std::vector<std::string>>();
    what.b_scale = entry.at("scale").at("lane_B").get<std::vector<std::string>>();
    what.result_rows = what.m * what.m / kLanes;
    instructions.push_back(what);
  }
  return instructions;
}

const Instruction& instruction(const std::string& name) {
  static const std::vector<Instruction> kInstructions = load_instructions();
  for (const Instruction& what : kInstructions)
    if (what.name == name) return what;
  throw std::runtime_error("no such instruction: " + name);
}

int bits_to_number(const std::vector<std::string>& bits, const Coordinates& at) {
  int number = 0;
  for (std::size_t bit = 0; bit < bits.size(); ++bit) {
    const auto coordinate = at.find(bits[bit][0]);
    const int value = coordinate == at.end() ? 0 : coordinate->second;
    number |= ((value >> (bits[bit][1] - '0')) & 1) << bit;
  }
  return number;
}

int type_width(const std::string& type) {
  if (type == "f64") return 64;
  if (type == "f32" || type == "xf32" || type == "i32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "e2m3" || type == "e3m2") return 6;
  return type == "e2m1" ? 4 : 8;
}

std::uint64_t Registers::get(const LaneMap& map, int width, const Coordinates& at) const {
  const auto first = static_cast<std::size_t>(bits_to_number(map.item, at)) * static_cast<std::size_t>(width);
  const auto lane = static_cast<std::size_t>(bits_to_number(map.lane, at));
  std::uint64_t value = words_.at(first / 32 * kLanes + lane) >> (first % 32);
  if (first % 32 + static_cast<std::size_t>(width) > 32)
    value |= static_cast<std::uint64_t>(words_.at((first / 32 + 1) * kLanes + lane)) << (32 - first % 32);
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

void Registers::set(const LaneMap& map, int width, const Coordinates& at, std::uint64_t value) {
  const auto first = static_cast<std::size_t>(bits_to_number(map.item, at)) * static_cast<std::size_t>(width);
  const auto lane = static_cast<std::size_t>(bits_to_number(map.lane, at));
  for (std::size_t bit = 0; bit < static_cast<std::size_t>(width);) {
    std::uint32_t& word = words_.at((first + bit) / 32 * kLanes + lane);
    const std::size_t low = (first + bit) % 32;
    const std::size_t count = std::min(32 - low, static_cast<std::size_t>(width) - bit);
    const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << low);
    word = (word & ~mask) | (static_cast<std::uint32_t>((value >> bit) << low) & mask);
    bit += count;
  }
}

std::uint64_t encode_exactly(const std::string& type, Chip chip, double value) {
  if (type == "i8" || type == "i32") return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  const Fields fields = fields_of(type, chip);
  const std::uint64_t sign =
      std::signbit(value) ? std::uint64_t{1} << (fields.exponent_bits + fields.mantissa_bits) : 0;
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  const int biased = std::max(exponent - 1 + fields.bias, 0);
  const double unit = std::ldexp(1.0, std::max(biased, 1) - fields.bias - fields.mantissa_bits);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, exponent) / unit);
  const std::uint64_t hidden = biased == 0 ? 0 : std::uint64_t{1} << fields.mantissa_bits;
  return sign | static_cast<std::uint64_t>(biased) << fields.mantissa_bits | (significand - hidden);
}

double decode_value(const std::string& type, Chip chip, std::uint64_t bits) {
  if (type == "i8") return static_cast<std::int8_t>(bits);
  if (type == "i32") return static_cast<std::int32_t>(bits);
  if (type == "f64") return as_double(bits);
  if (type == "f32") return as_float(static_cast<std::uint32_t>(bits));
  if (type == "xf32") return as_float(static_cast<std::uint32_t>(bits) & 0xFFFFE000U);
  if (type == "bf16") return as_float(static_cast<std::uint32_t>(bits) << 16);
  const Fields fields = fields_of(type, chip);
  const int magnitude_bits = fields.exponent_bits + fields.mantissa_bits;
  const double sign = ((bits >> magnitude_bits) & 1U) != 0 ? -1 : 1;
  const auto size = static_cast<int>(bits & ((std::uint64_t{1} << magnitude_bits) - 1));
  const int exponent = size >> fields.mantissa_bits;
  const int mantissa = size & ((1 << fields.mantissa_bits) - 1);
  const bool fnuz = chip == Chip::kGfx942 && (type == "fp8" || type == "bf8");
  if (fnuz && bits == 0x80) return std::numeric_limits<double>::quiet_NaN();
  if (!fnuz && type == "fp8" && size == 0x7F) return std::numeric_limits<double>::quiet_NaN();
  if (!fnuz && (type == "f16" || type == "bf8") && exponent == (1 << fields.exponent_bits) - 1)
    return mantissa == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  const int hidden = exponent == 0 ? 0 : 1 << fields.mantissa_bits;
  return sign * std::ldexp(hidden + mantissa, std::max(exponent, 1) - fields.bias - fields.mantissa_bits);
}

Chip chip_named(const std::string& name) { return name == "gfx942" ? Chip::kGfx942 : Chip::kGfx950; }

}  // namespace monojit::emulator::numerics_test
