#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "ir/dsl.h"

namespace monojit::kernels {

/// What a wait waits for, as its health record tells (kernels/common/health.h).
struct Awaited {
  std::string_view region;
  ir::Uniform<ir::Int32> tag;  ///< expected
};

/// A pair of a lane, and the tag that was seen in it.
struct SeenPair {
  ir::Int32 index;
  ir::Int32 tag;
};

/// The retries of a wait. Bounded ones give up when 10 s have passed or when another wait of the device has given up;
/// of those that lasted, the first one of a workgroup leaves a health record, and the kernel goes on with stale data.
class WaitBound {
 public:
  /// Without a bound.
  WaitBound() = default;
  /// `health`: word 0 of the health words.
  explicit WaitBound(const ir::Uniform<ir::Ptr<ir::UInt8, ir::Global>>& health) : on_(true), health_(health) {}
  /// `alarm`: a word, possibly of another device, that is set to 1 before the health words say that a wait gave up.
  WaitBound(const ir::Uniform<ir::Ptr<ir::UInt8, ir::Global>>& health,
            const ir::Uniform<ir::Ptr<ir::Int32, ir::Global>>& alarm)
      : on_(true), health_(health), alarm_(alarm) {}

  /// What one lane saw when it looked again.
  struct Look {
    ir::Bool missing;
    std::function<SeenPair()> first_missing;  ///< emits code that finds it
  };
  /// Looks again, all active lanes together, until none misses anything or the bound is over.
  void retry(const std::function<Look()>& look, const Awaited& what) const;

 private:
  void record(const Look& last, const Awaited& what, const ir::Uniform<ir::Int64>& now) const;
  void write(const Look& last, const Awaited& what, const ir::Uniform<ir::Int64>& now) const;

  bool on_ = false;
  ir::BufferResource health_;
  std::optional<ir::Uniform<ir::Ptr<ir::Int32, ir::Global>>> alarm_;
};

}  // namespace monojit::kernels
