#include "kernels/common/emit/mailbox.h"

namespace monojit::kernels {

using namespace monojit::ir;

namespace {

constexpr int kPairBytes = 8;
constexpr int kPairsALoad = 2;
using OnePair = Vec<Int32, 2>;
using TwoPairs = Vec<Int32, 4>;

// The pairs of one wait, as the last look saw them.
class Pairs {
 public:
  Pairs(const BufferResource& memory, const Uniform<Int32>& region, const Int32& first, int count)
      : memory_(memory), region_(region), offset_(first * kPairBytes), values_(count), tags_(count) {}

  void look() {
    const int count = static_cast<int>(values_.size());
    if (count == 1) return take(0, load<OnePair>(memory_, offset_, access(0)));
    for (int pair = 0; pair < count; pair += kPairsALoad) {
      const auto both = load<TwoPairs>(memory_, offset_, access(pair));
      take(pair, both.low());
      take(pair + 1, both.high());
    }
  }
  Bool missing(const Uniform<Int32>& tag) const {
    Int32 wrong = tags_[0] ^ tag;
    for (std::size_t pair = 1; pair < tags_.size(); ++pair) wrong = wrong | (tags_[pair] ^ tag);
    return wrong != 0;
  }
  Int32 first_tag() const { return tags_[0]; }
  std::vector<Int32> values() const { return {values_.begin(), values_.end()}; }

 private:
  BufferAccess access(int pair) const {
    return {.scalar_offset = region_, .offset = pair * kPairBytes, .policy = CachePolicy::kDevice, .repeat = true};
  }
  void take(int pair, const OnePair& words) {
    values_[pair] = words[0];
    tags_[pair] = words[1];
  }

  BufferResource memory_;
  Uniform<Int32> region_;
  Int32 offset_;
  std::vector<Var<Int32>> values_, tags_;
};

}  // namespace

void Mailbox::put(const Int32& index, const Int32& value) const {
  store(memory_, index * kPairBytes, vec(value, Int32(tag_)),
        {.scalar_offset = Uniform<Int32>(offset_), .policy = CachePolicy::kDevice});
}

std::array<Int32, 4> Mailbox::poll4(const Int32& first) const {
  const std::vector<Int32> values = wait(first, 4);
  return {values[0], values[1], values[2], values[3]};
}

std::vector<Int32> Mailbox::wait(const Int32& first, int pairs) const {
  Pairs seen(memory_, Uniform<Int32>(offset_), first, pairs);
  seen.look();
  IfRarely(any(seen.missing(tag_)), [&] {
    const auto look_again = [&] {
      seen.look();
      return WaitBound::Look{.missing = seen.missing(tag_), .tag = seen.first_tag()};
    };
    bound_.retry(look_again, {.region = region_, .pair = first, .tag = tag_});
  });
  return seen.values();
}

}  // namespace monojit::kernels
