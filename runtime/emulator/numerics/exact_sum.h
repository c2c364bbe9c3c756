// A sum of integers times powers of two, kept exactly in one wide fixed-point number and rounded once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace monojit::emulator::matrix {

/// Holds |sum| < 2^600 with bits down to 2^-700: products of any two f32 (2^-298 .. 2^256), scaled by 2^±254, and
/// headroom.
class ExactSum {
 public:
  static constexpr int kLowestBit = -704;
  static constexpr int kWords = 21;

  /// Adds significand * 2^unit.
  void add(std::int64_t significand, int unit) {
    if (significand == 0) return;
    const int position = unit - kLowestBit;
    const int shift = position % 64;
    const auto low = static_cast<std::uint64_t>(significand) << shift;
    const auto high = static_cast<std::uint64_t>(shift == 0 ? significand >> 63 : significand >> (64 - shift));
    const std::uint64_t fill = significand < 0 ? ~std::uint64_t{0} : 0;
    std::uint64_t carry = 0;
    for (int word = position / 64, part = 0; word < kWords; ++word, ++part) {
      if (part >= 2 && carry == (fill & 1U)) break;  // what is left adds nothing
      carry = add_with_carry(words_[word], part == 0 ? low : (part == 1 ? high : fill), carry);
    }
  }

  [[nodiscard]] bool is_zero() const {
    for (const std::uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }

  /// f32 bits, ties to even, denormals kept; a zero sum is +0.
  [[nodiscard]] std::uint32_t round_to_f32() const {
    ExactSum size = *this;
    const bool negative = (words_[kWords - 1] >> 63) != 0;
    if (negative) size.negate();
    const int top = size.highest_bit();
    if (top < 0) return 0;
    // 62 leading bits and a sticky one are a double that rounds to f32 as the whole does, once made odd at 53 bits.
    const int low = top - 52;
    std::uint64_t leading = size.bits_from(low) & ((std::uint64_t{1} << 53) - 1);
    if (size.any_below(low)) leading |= 1;
    double value = static_cast<double>(leading);
    for (int left = low + kLowestBit; left != 0;) {
      const int step = left > 500 ? 500 : (left < -500 ? -500 : left);
      value *= std::bit_cast<double>(static_cast<std::uint64_t>(step + 1023) << 52);
      left -= step;
    }
    const auto rounded = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return negative ? rounded | 0x80000000U : rounded;
  }

 private:
  static std::uint64_t add_with_carry(std::uint64_t& word, std::uint64_t term, std::uint64_t carry) {
    const std::uint64_t partial = word + term;
    const std::uint64_t total = partial + carry;
    const bool overflow = partial < word || total < partial;
    word = total;
    return overflow ? 1 : 0;
  }

  void negate() {
    std::uint64_t carry = 1;
    for (std::uint64_t& word : words_) {
      word = ~word;
      carry = add_with_carry(word, 0, carry);
    }
  }

  [[nodiscard]] int highest_bit() const {
    for (int word = kWords - 1; word >= 0; --word)
      if (words_[word] != 0) return 64 * word + 63 - std::countl_zero(words_[word]);
    return -1;
  }

  [[nodiscard]] std::uint64_t bits_from(int low) const {
    if (low < 0) return words_[0] << -low;
    const int word = low / 64;
    const int shift = low % 64;
    const std::uint64_t upper = shift == 0 || word + 1 == kWords ? 0 : words_[word + 1] << (64 - shift);
    return (words_[word] >> shift) | upper;
  }

  [[nodiscard]] bool any_below(int low) const {
    for (int word = 0; word < kWords && 64 * word < low; ++word) {
      const int valid = low - 64 * word;
      const std::uint64_t mask = valid >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid) - 1;
      if ((words_[word] & mask) != 0) return true;
    }
    return false;
  }

  std::uint64_t words_[kWords] = {};
};

}  // namespace monojit::emulator::matrix
