// Programs of tests/emulator/programs/*.cl on a device of a test's own.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/emulator/device.h"

namespace monojit::emulator::test {

/// How a program is compiled and executed.
struct Variant {
  ChipLimits chip;
  const char* optimisation;  ///< "O3"
  HostIsa isa;
  u32 threads;
  u64 seed;
  [[nodiscard]] std::string name() const;
};

/// The ones that this host can execute, out of a fixed list that has each chip with each level and instruction set.
std::vector<Variant> variants();

/// A kernel argument of any size; of a buffer its address.
class Argument {
 public:
  template <class T>
  Argument(const Buffer<T>& buffer) : Argument(buffer.address()) {}  // NOLINT(google-explicit-constructor)
  template <class T>
    requires std::is_arithmetic_v<T>
  Argument(T value) : bytes_(sizeof value) {  // NOLINT(google-explicit-constructor)
    std::memcpy(bytes_.data(), &value, sizeof value);
  }
  /// That many bytes of LDS, where the kernel takes a local pointer.
  static Argument local(u32 bytes) {
    Argument argument(bytes);
    argument.local_ = bytes;
    return argument;
  }
  [[nodiscard]] const std::vector<u8>& bytes() const { return bytes_; }
  [[nodiscard]] u32 local_bytes() const { return local_; }

 private:
  std::vector<u8> bytes_;
  u32 local_ = 0;
};

/// One source file's kernels.
class Program : public Device {
 public:
  /// `source` is "sort" for sort.cl.
  Program(const std::string& source, const Variant& variant);
  Program(std::vector<std::byte> object, const Variant& variant);
  /// Throws Failure; std::logic_error if the arguments do not match the kernel's.
  LaunchReport call(const std::string& kernel, const Shape& shape, const std::vector<Argument>& arguments);
  [[nodiscard]] const Variant& variant() const { return variant_; }

 private:
  Variant variant_;
  std::vector<std::byte> object_;
  Module* module_;
};

/// `count` values of a seeded generator over all of T's bits (integers) or in [low, high) (floats).
template <class T>
std::vector<T> random_bits(std::size_t count, u64 seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(engine());
  return values;
}
template <class T>
std::vector<T> random_between(std::size_t count, u64 seed, T low, T high) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<T> spread(low, high);
  std::vector<T> values(count);
  for (T& value : values) value = spread(engine);
  return values;
}

}  // namespace monojit::emulator::test
