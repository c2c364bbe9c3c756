#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/family.h"
#include "runtime/kernel_record.h"

namespace monojit::runtime {

/// A code object doesn't fit the argument list that it was built for.
class CodeObjectError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The value of one kernel argument.
class ArgumentValue {
 public:
  ArgumentValue(const void* address)  // NOLINT(google-explicit-constructor): a list of values should read as one
      : type_(kernels::ArgumentType::kPointer), bits_(std::bit_cast<std::uint64_t>(address)) {}
  ArgumentValue(std::int32_t value)  // NOLINT(google-explicit-constructor)
      : type_(kernels::ArgumentType::kInt32), bits_(std::bit_cast<std::uint32_t>(value)) {}
  ArgumentValue(std::int64_t value)  // NOLINT(google-explicit-constructor)
      : type_(kernels::ArgumentType::kInt64), bits_(std::bit_cast<std::uint64_t>(value)) {}
  ArgumentValue(float value)  // NOLINT(google-explicit-constructor)
      : type_(kernels::ArgumentType::kFloat32), bits_(std::bit_cast<std::uint32_t>(value)) {}

  kernels::ArgumentType type() const { return type_; }
  std::uint64_t bits() const { return bits_; }

 private:
  kernels::ArgumentType type_;
  std::uint64_t bits_;
};

/// Where a kernel's arguments lie in its kernarg segment: worked out once, so that packing is a row of stores.
class ArgumentLayout {
 public:
  static constexpr std::size_t kMaxBytes = 1024;
  using Packed = std::array<std::byte, kMaxBytes>;

  /// From the argument list, which must agree with the code object's metadata in names, order, offsets and sizes.
  /// Throws CodeObjectError naming the first argument that does not, with both places.
  ArgumentLayout(const kernels::Family& family, const KernelRecord& record);

  /// Bytes of the kernarg segment.
  std::size_t bytes() const { return bytes_; }
  /// Position of an argument in the list. Throws UserError when the kernel has none of this name.
  std::size_t index(std::string_view name) const;

  /// Writes `values`, in the order of the argument list, to the first bytes() of `packed`. Throws UserError naming the
  /// argument when there are too few or too many, or one has another type or is an address of too little alignment.
  void pack(std::span<const ArgumentValue> values, Packed& packed) const;

 private:
  struct Slot {
    std::uint32_t offset;
    kernels::ArgumentType type;
    std::uint64_t low_bits;  ///< zero in its values: an address' alignment - 1

    bool takes(const ArgumentValue& value) const { return value.type() == type && (value.bits() & low_bits) == 0; }
  };
  [[noreturn]] void refuse(std::span<const ArgumentValue> values) const;

  const kernels::Family* family_;
  std::vector<Slot> slots_;
  std::size_t bytes_ = 0;
};

}  // namespace monojit::runtime
