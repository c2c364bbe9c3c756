// MFMA operands for tests, placed by tests/data/mfma_layouts.json, which is independent of the emulator's own lane
// maps.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/emulator/numerics/matrix.h"
#include "tests/emulator/numerics_support.h"

namespace monojit::emulator::numerics_test {

/// A permutation of coordinate bits: which coordinate bit ("k3") makes each bit of the lane and of the item number.
struct LaneMap {
  std::vector<std::string> item;
  std::vector<std::string> lane;
};

/// Coordinates of an element by letter: i row, j column, k, b block.
using Coordinates = std::map<char, int>;

struct Instruction {
  std::string name;
  std::vector<std::string> chips;
  int m = 0, n = 0, k = 0, blocks = 1;
  std::string a_type, b_type, result_type;
  int a_rows = 0, b_rows = 0, result_rows = 0;
  LaneMap a, b, result;
};

/// A scaled (f8f6f4) instruction: the maps depend on the formats' width.
struct ScaledInstruction {
  std::string unscaled, scaled;
  int m = 0, k = 0;
  std::map<int, LaneMap> a, b;  ///< by width
  LaneMap result;
  std::vector<std::string> a_scale, b_scale;
  int result_rows = 0;
};

std::vector<Instruction> load_instructions();
std::vector<ScaledInstruction> load_scaled_instructions();
const Instruction& instruction(const std::string& name);

int bits_to_number(const std::vector<std::string>& bits, const Coordinates& at);

/// Bits of a type's elements: "f16" 16, "fp8" 8, ...
int type_width(const std::string& type);

/// Registers of one operand: rows of 64 lanes.
class Registers {
 public:
  explicit Registers(int rows) : words_(static_cast<std::size_t>(rows) * kLanes) {}

  [[nodiscard]] std::uint64_t get(const LaneMap& map, int width, const Coordinates& at) const;
  void set(const LaneMap& map, int width, const Coordinates& at, std::uint64_t value);

  std::uint32_t* data() { return words_.data(); }
  [[nodiscard]] const std::uint32_t* data() const { return words_.data(); }
  std::vector<std::uint32_t>& words() { return words_; }
  bool operator==(const Registers&) const = default;

 private:
  std::vector<std::uint32_t> words_;
};

/// All operands of one MFMA.
struct Tile {
  explicit Tile(const Instruction& what)
      : of(&what), a(what.a_rows), b(what.b_rows), c(what.result_rows), d(what.result_rows) {}

  [[nodiscard]] TileArguments arguments() { return {.a = a.data(), .b = b.data(), .c = c.data(), .d = d.data()}; }

  void set_a(int block, int i, int k, std::uint64_t bits) {
    a.set(of->a, type_width(of->a_type), {{'b', block}, {'i', i}, {'k', k}}, bits);
  }
  void set_b(int block, int k, int j, std::uint64_t bits) {
    b.set(of->b, type_width(of->b_type), {{'b', block}, {'j', j}, {'k', k}}, bits);
  }
  void set_c(int block, int i, int j, std::uint64_t bits) {
    c.set(of->result, type_width(of->result_type), {{'b', block}, {'i', i}, {'j', j}}, bits);
  }
  [[nodiscard]] std::uint64_t get_d(int block, int i, int j) const {
    return d.get(of->result, type_width(of->result_type), {{'b', block}, {'i', i}, {'j', j}});
  }

  const Instruction* of;
  Registers a, b, c, d;
};

/// The bits of a number that the type can hold exactly.
std::uint64_t encode_exactly(const std::string& type, Chip chip, double value);

/// Value of an element; NaN and Inf as themselves.
double decode_value(const std::string& type, Chip chip, std::uint64_t bits);

Chip chip_named(const std::string& name);

}  // namespace monojit::emulator::numerics_test
