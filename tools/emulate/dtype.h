#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Element types of buffers and scalars, and arrays of them.
namespace monojit::tools {

enum class ElementKind : std::uint8_t { kBool, kUnsigned, kSigned, kFloat };

/// A binary floating-point format of at most 16 bits, as its parameters give it.
struct SmallFloat {
  /// What the largest codes mean. kIeee: infinities and NaNs. kOneNan: NaN where all other bits are set, no infinity
  /// (OCP E4M3). kNegativeZeroNan: NaN in place of -0, no infinity (FNUZ).
  enum class Specials : std::uint8_t { kIeee, kOneNan, kNegativeZeroNan };

  unsigned exponent_bits = 0;
  unsigned mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::kIeee;

  [[nodiscard]] double value(std::uint32_t code) const;
  /// Round to nearest even with gradual underflow; what is too large becomes infinity, or NaN where there is none.
  [[nodiscard]] std::uint32_t code(double value) const;
};

struct Dtype {
  std::string_view name;  ///< "bf16"
  unsigned bytes = 0;
  ElementKind kind = ElementKind::kUnsigned;
  std::string_view npy;  ///< how a .npy file names it; types that NumPy lacks are stored as their bits
  SmallFloat format;     ///< of floats below 32 bits

  [[nodiscard]] bool is_float() const { return kind == ElementKind::kFloat; }
  /// The element at `from` as the nearest double; 64-bit integers may need more.
  [[nodiscard]] double value(const std::byte* from) const;
  /// Whether an integer type, or bool, can hold `value`; true for floats.
  [[nodiscard]] bool holds(double value) const;
  /// Stores `value`, rounded for a float; integers want holds().
  void store(double value, std::byte* to) const;
  /// Stores the low bits of an integer.
  void store_bits(std::uint64_t bits, std::byte* to) const;
  /// The element as text: exact for integers, shortest that reads back for floats of 32 and 64 bits.
  [[nodiscard]] std::string text(const std::byte* from) const;
};

/// All of them.
std::span<const Dtype> dtypes();
/// The one of a name. Throws UserError naming `where` and all that there are.
const Dtype& dtype(std::string_view name, std::string_view where);
/// The one that a .npy file names so ("<f4"); null if there is none.
const Dtype* npy_dtype(std::string_view name);

using Shape = std::vector<std::uint64_t>;

/// Elements of a shape; 1 without dimensions. Throws UserError, naming `where`, when they and `bytes` each overflow.
std::uint64_t element_count(const Shape& shape, unsigned bytes, std::string_view where);
/// "[2, 3]"
std::string shape_text(const Shape& shape);

/// Elements in row-major order, little-endian.
struct Array {
  const Dtype* dtype = nullptr;
  Shape shape;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::uint64_t elements() const { return bytes.size() / dtype->bytes; }
  [[nodiscard]] const std::byte* at(std::uint64_t index) const { return bytes.data() + index * dtype->bytes; }
};

}  // namespace monojit::tools
