#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace monojit::kernels::reference {

/// Seeded numbers, the same on every machine (SplitMix64). Streams of one seed are independent of each other.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed ^ mix(stream + kStep))) {}

  std::uint64_t bits() { return mix(state_ += kStep); }
  /// Uniform in 0 .. end - 1; end > 0.
  std::uint64_t below(std::uint64_t end) { return bits() % end; }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Mean 0, deviation 1, within +-6: a sum of 12 uniforms, which needs no library function.
  float gaussian() {
    int sum = 0;
    for (int word = 0; word < 3; ++word) {
      const std::uint64_t four = bits();
      for (int part = 0; part < 4; ++part) sum += static_cast<int>((four >> (16 * part)) & 0xFFFF);
    }
    return static_cast<float>(sum - 6 * 0xFFFF) * 0x1p-16F;
  }
  void fill(std::span<std::byte> memory);

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace monojit::kernels::reference
