#pragma once

#include "ir/dsl.h"

namespace monojit::kernels {

/// Runs use(i, buffer) for i = first, first + step, .. below `end`, in a loop of the kernel, with the next one's loads
/// in flight meanwhile: fetch(i, buffer) fills one of two buffers, which are sets of Vars. The body is there twice, so
/// that no registers have to be copied. Nothing is fetched that is not used.
template <class Buffer, class Fetch, class Use>
class PingPong {
 public:
  PingPong(const ir::Uniform<ir::Int32>& first, int step, const ir::Uniform<ir::Int32>& end, Fetch fetch, Use use)
      : first_(first), end_(end), step_(step), fetch_(fetch), use_(use) {}

  /// Puts the first buffer's loads in flight.
  void start() {
    ir::If(first_ < end_, [&] { fetch_(first_, a_); });
  }
  void run() {
    ir::If(first_ < end_, [&] {
      ir::Var<ir::Uniform<ir::Int32>> i(first_);
      ir::DoWhile([&] {
        const ir::Uniform<ir::Int32> next = i.value() + step_;
        ir::If(next < end_, [&] { fetch_(next, b_); });
        use_(i.value(), a_);
        ir::If(next < end_, [&] {
          const ir::Uniform<ir::Int32> after = next + step_;
          ir::If(after < end_, [&] { fetch_(after, a_); });
          use_(next, b_);
        });
        i = next + step_;
        return i.value() < end_;
      });
    });
  }

 private:
  ir::Uniform<ir::Int32> first_, end_;
  int step_;
  Fetch fetch_;
  Use use_;
  Buffer a_, b_;
};

template <class Buffer, class Fetch, class Use>
PingPong<Buffer, Fetch, Use> ping_pong(const ir::Uniform<ir::Int32>& first, int step, const ir::Uniform<ir::Int32>& end,
                                       Fetch fetch, Use use) {
  return {first, step, end, fetch, use};
}

}  // namespace monojit::kernels
