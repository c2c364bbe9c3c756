#include "kernels/common/emit/mailbox.h"

namespace monojit::kernels {

using namespace monojit::ir;

namespace {
constexpr int kPairBytes = 8;
constexpr int kPollSleep = 1;
}  // namespace

void Mailbox::put(const Int32& index, const Int32& value) const {
  store(pairs_, index * kPairBytes, vec(value, Int32(tag_)), {.policy = CachePolicy::kDevice});
}

std::array<Int32, 4> Mailbox::poll4(const Int32& first) const {
  using TwoPairs = Vec<Int32, 4>;
  const Int32 offset = first * kPairBytes;
  Var<TwoPairs> low;
  Var<TwoPairs> high;
  const auto missing = [&] {
    low = load<TwoPairs>(pairs_, offset, {.policy = CachePolicy::kDevice, .repeat = true});
    high = load<TwoPairs>(pairs_, offset, {.offset = 2 * kPairBytes, .policy = CachePolicy::kDevice, .repeat = true});
    const TwoPairs a = low;
    const TwoPairs b = high;
    return any(((a[1] ^ tag_) | (a[3] ^ tag_) | (b[1] ^ tag_) | (b[3] ^ tag_)) != 0);
  };
  While(missing, [&] { s_sleep(kPollSleep); });
  const TwoPairs a = low;
  const TwoPairs b = high;
  return {a[0], a[2], b[0], b[2]};
}

}  // namespace monojit::kernels
