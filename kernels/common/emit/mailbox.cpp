#include "kernels/common/emit/mailbox.h"

#include <algorithm>

namespace monojit::kernels {

using namespace monojit::ir;

namespace {

constexpr int kPairBytes = 8;
constexpr int kPairsALoad = 2;
constexpr std::size_t kRunsAWait = 12;
constexpr std::int32_t kImmediateBytes = 4096 - 16;  // of an instruction's offset
using OnePair = Vec<Int32, 2>;
using TwoPairs = Vec<Int32, 4>;

// The pairs of one wait, as the last look saw them.
class Pairs {
 public:
  Pairs(const BufferResource& memory, std::int32_t region, CachePolicy policy, std::span<const PairRun> runs)
      : memory_(memory), policy_(policy) {
    for (const PairRun& run : runs) {
      const Int32 lane = run.first * kPairBytes;
      for (int pair = 0; pair < run.pairs; ++pair) {
        indices_.push_back(run.first + static_cast<std::int32_t>(run.behind + pair));
      }
      for (int pair = 0; pair < run.pairs; pair += kPairsALoad) {
        const auto bytes = region + static_cast<std::int32_t>(run.behind + pair) * kPairBytes;
        places_.push_back({lane, bytes, std::min(kPairsALoad, run.pairs - pair)});
      }
    }
    for (const Place& place : places_) {
      for (int i = 0; i < place.pairs; ++i) {
        values_.emplace_back();
        tags_.emplace_back();
      }
    }
  }

  void look() {
    std::size_t pair = 0;
    for (const Place& place : places_) {
      if (place.pairs == 1) {
        take(pair++, load<OnePair>(memory_, place.lane, access(place.bytes)));
      } else {
        const auto both = load<TwoPairs>(memory_, place.lane, access(place.bytes));
        take(pair++, both.low());
        take(pair++, both.high());
      }
    }
  }
  Bool missing(const Uniform<Int32>& tag) const {
    Int32 wrong = tags_[0] ^ tag;
    for (std::size_t pair = 1; pair < tags_.size(); ++pair) wrong = wrong | (tags_[pair] ^ tag);
    return wrong != 0;
  }
  // The first in the list that lacks the tag; there is one.
  SeenPair first_missing(const Uniform<Int32>& tag) const {
    Int32 index = indices_.back();
    Int32 seen = tags_.back();
    for (std::size_t pair = tags_.size() - 1; pair-- > 0;) {
      const Int32 tag_of_pair = tags_[pair];
      const Bool lacks = tag_of_pair != tag;
      index = select(lacks, indices_[pair], index);
      seen = select(lacks, tag_of_pair, seen);
    }
    return {index, seen};
  }
  std::vector<Int32> values() const { return {values_.begin(), values_.end()}; }

 private:
  struct Place {
    Int32 lane;
    std::int32_t bytes;
    int pairs;
  };

  // What an instruction's offset can't hold goes through a scalar register, which near places share.
  BufferAccess access(std::int32_t bytes) const {
    const std::int32_t near = bytes % kImmediateBytes;
    return {.scalar_offset = Uniform<Int32>(bytes - near), .offset = near, .policy = policy_, .repeat = true};
  }
  void take(std::size_t pair, const OnePair& words) {
    values_[pair] = words[0];
    tags_[pair] = words[1];
  }

  BufferResource memory_;
  CachePolicy policy_;
  std::vector<Place> places_;
  std::vector<Int32> indices_;
  std::vector<Var<Int32>> values_, tags_;
};

}  // namespace

void Mailbox::put(const Int32& index, const Int32& value) const {
  store(memory_, index * kPairBytes, vec(value, Int32(tag_)),
        {.scalar_offset = Uniform<Int32>(offset_), .policy = policy_});
}

std::vector<Int32> Mailbox::poll(std::span<const PairRun> runs) const {
  std::vector<Int32> values;
  while (!runs.empty()) {
    const std::size_t count = std::min(runs.size(), kRunsAWait);
    for (const Int32& value : wait(runs.first(count))) values.push_back(value);
    runs = runs.subspan(count);
  }
  return values;
}

Int32 Mailbox::poll(const Int32& index) const { return wait(std::array{PairRun{index}}).front(); }

std::array<Int32, 4> Mailbox::poll4(const Int32& first) const {
  const std::vector<Int32> values = wait(std::array{PairRun{first, 4}});
  return {values[0], values[1], values[2], values[3]};
}

std::vector<Int32> Mailbox::wait(std::span<const PairRun> runs) const {
  Pairs seen(memory_, offset_, policy_, runs);
  seen.look();
  IfRarely(any(seen.missing(tag_)), [&] {
    const auto look_again = [&] {
      seen.look();
      return WaitBound::Look{.missing = seen.missing(tag_), .first_missing = [&] { return seen.first_missing(tag_); }};
    };
    bound_.retry(look_again, {.region = region_, .tag = tag_});
  });
  return seen.values();
}

}  // namespace monojit::kernels
