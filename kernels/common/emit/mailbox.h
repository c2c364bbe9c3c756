#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/dsl.h"
#include "kernels/common/emit/wait_bound.h"

namespace monojit::kernels {

/// One or several consecutive pairs of a mailbox: number `first` + `behind` and on. Two and more travel in loads of
/// two: first + behind has to be even then.
struct PairRun {
  ir::Int32 first;
  int pairs = 1;
  std::int64_t behind = 0;
};

/// Hand-off of 32-bit values between workgroups or devices. A pair is 8 bytes, {value, tag}; the tag is new in every
/// launch, so that a value is there exactly when its pair carries it, and nothing has to be cleared. A pair is written
/// by one store and read by one load, which the hardware does not tear.
class Mailbox {
 public:
  Mailbox() = default;
  /// `region`: its name in health records. Pair 0 is `offset` bytes into `memory`. `tag`: this launch's. `policy`:
  /// kDevice for workgroups of one device, kSystem for what other devices write.
  Mailbox(std::string_view region, const ir::BufferResource& memory, std::int64_t offset,
          const ir::Uniform<ir::Int32>& tag, const WaitBound& bound, ir::CachePolicy policy = ir::CachePolicy::kDevice)
      : region_(region),
        memory_(memory),
        offset_(static_cast<std::int32_t>(offset)),
        tag_(tag),
        bound_(bound),
        policy_(policy) {}

  /// Hands `value` over in pair `index`.
  void put(const ir::Int32& index, const ir::Int32& value) const;

  /// Waits until all pairs carry the tag in every active lane; their values in the order of the list. All active lanes
  /// wait together, for at most 12 runs at a time.
  std::vector<ir::Int32> poll(std::span<const PairRun> runs) const;
  ir::Int32 poll(const ir::Int32& index) const;
  std::array<ir::Int32, 4> poll4(const ir::Int32& first) const;

 private:
  std::vector<ir::Int32> wait(std::span<const PairRun> runs) const;

  std::string_view region_;
  ir::BufferResource memory_;
  std::int32_t offset_ = 0;
  ir::Uniform<ir::Int32> tag_;
  WaitBound bound_;
  ir::CachePolicy policy_ = ir::CachePolicy::kDevice;
};

}  // namespace monojit::kernels
