#pragma once

#include <array>
#include <cstdint>

#include "ir/dsl.h"

namespace monojit::kernels {

/// Hand-off of 32-bit values between workgroups of one launch. A pair is 8 bytes, {value, tag}; the tag is new in every
/// launch, so that a value is there exactly when its pair carries it, and nothing has to be cleared. A pair is written
/// by one store and read by one load, which the hardware does not tear.
class Mailbox {
 public:
  /// `memory`: where pair 0 is. `tag`: this launch's.
  Mailbox(const ir::Uniform<ir::Ptr<ir::UInt8, ir::Global>>& memory, const ir::Uniform<ir::Int32>& tag)
      : pairs_(memory), tag_(tag) {}

  /// Hands `value` over in pair `index`.
  void put(const ir::Int32& index, const ir::Int32& value) const;

  /// Waits until the four pairs from `first` (even) carry the tag in every lane; their values. All lanes wait together.
  std::array<ir::Int32, 4> poll4(const ir::Int32& first) const;

 private:
  ir::BufferResource pairs_;
  ir::Uniform<ir::Int32> tag_;
};

}  // namespace monojit::kernels
