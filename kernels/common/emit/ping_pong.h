#pragma once

#include "ir/dsl.h"

namespace monojit::kernels {

/// Runs use(i, buffer) for i = first, first + step, .. below `end`, in a loop of the kernel, with the next one's loads
/// in flight meanwhile: fetch(i, buffer) fills one of two buffers, which are sets of Vars. The body is there twice, so
/// that no registers have to be copied.
///
/// What lies behind the last, up to two of them, is fetched, too, and has to cost no memory: offsets behind a buffer's
/// end. A branch around loads would undo the overlap: behind it LLVM waits as if they had not been made, for those of
/// use() to be the latest, and so in truth for almost all of the next one's.
template <class Buffer, class Fetch, class Use>
class PingPong {
 public:
  PingPong(const ir::Uniform<ir::Int32>& first, int step, const ir::Uniform<ir::Int32>& end, Fetch fetch, Use use)
      : first_(first), end_(end), step_(step), fetch_(fetch), use_(use) {}

  /// Puts the first buffer's loads in flight.
  void start() { fetch_(first_, a_); }
  void run() {
    ir::If(first_ < end_, [&] {
      ir::Var<ir::Uniform<ir::Int32>> i(first_);
      ir::DoWhile([&] {
        const ir::Uniform<ir::Int32> next = i.value() + step_;
        const ir::Uniform<ir::Int32> after = next + step_;
        fetch_next(next, b_);
        use_(i.value(), a_);
        fetch_next(after, a_);
        ir::If(next < end_, [&] { use_(next, b_); });
        i = after;
        return after < end_;
      });
    });
  }

 private:
  // What LLVM moved from use() in front of the loads would make them wait for the buffer in use.
  void fetch_next(const ir::Uniform<ir::Int32>& i, Buffer& buffer) {
    fetch_(i, buffer);
    ir::sched_barrier();
  }

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
