#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ir/dsl.h"
#include "kernels/common/emit/wait_bound.h"

namespace monojit::kernels {

/// Hand-off of 32-bit values between workgroups of one launch. A pair is 8 bytes, {value, tag}; the tag is new in every
/// launch, so that a value is there exactly when its pair carries it, and nothing has to be cleared. A pair is written
/// by one store and read by one load, which the hardware does not tear.
class Mailbox {
 public:
  /// `region`: its name in health records. Pair 0 is `offset` bytes into `memory`. `tag`: this launch's.
  Mailbox() = default;
  Mailbox(std::string_view region, const ir::BufferResource& memory, std::int64_t offset,
          const ir::Uniform<ir::Int32>& tag, const WaitBound& bound)
      : region_(region), memory_(memory), offset_(static_cast<std::int32_t>(offset)), tag_(tag), bound_(bound) {}

  /// Hands `value` over in pair `index`.
  void put(const ir::Int32& index, const ir::Int32& value) const;

  /// Waits until the pair, or the four pairs from `first` (even), carry the tag in every active lane; their values. All
  /// lanes wait together.
  ir::Int32 poll(const ir::Int32& index) const { return wait(index, 1).front(); }
  std::array<ir::Int32, 4> poll4(const ir::Int32& first) const;

 private:
  std::vector<ir::Int32> wait(const ir::Int32& first, int pairs) const;

  std::string_view region_;
  ir::BufferResource memory_;
  std::int32_t offset_ = 0;
  ir::Uniform<ir::Int32> tag_;
  WaitBound bound_;
};

}  // namespace monojit::kernels
