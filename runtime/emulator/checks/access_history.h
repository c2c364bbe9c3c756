// The latest accesses to each word of memory, by which waves.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "runtime/emulator/types.h"

namespace monojit::emulator {

/// One lane's access to one word.
struct PastAccess {
  u32 wave = 0;
  u32 time = 0;  ///< the wave's own; 0: no access
  u32 instruction = 0;
  u8 lane = 0;
  u8 bytes = 0;  ///< mask over the word's four
  u8 scope = 0;  ///< of the instruction (memory_request.h)
  bool write = false;

  [[nodiscard]] bool exists() const { return time != 0; }
};

/// Who wrote a word last, and two of those that read it since: more readers than that push each other out, so that a
/// race with one of them may go unseen, but none is invented.
struct WordHistory {
  PastAccess write;
  std::array<PastAccess, 2> reads;
};

/// One access word by word: body(address of the word, address of the first byte in it, mask of the bytes).
template <class Body>
void for_each_word(u64 begin, u64 bytes, Body body) {
  constexpr u64 kWordBytes = 4;
  const u64 end = begin + bytes;
  for (u64 at = begin; at < end;) {
    const u64 word = at & ~(kWordBytes - 1);
    const u64 stop = std::min(word + kWordBytes, end);
    body(word, at, static_cast<u8>(((1u << (stop - at)) - 1) << (at - word)));
    at = stop;
  }
}

/// The words of 16 bytes: one history as long as every access took them all, as those of weights do.
class QuadHistory {
 public:
  static constexpr u64 kBytes = 16;
  static constexpr u64 kWordBytes = 4;

  [[nodiscard]] bool whole() const { return words_ == nullptr; }
  /// While whole().
  [[nodiscard]] WordHistory& all() { return all_; }
  /// Ends whole().
  [[nodiscard]] WordHistory& word(u64 address) {
    if (words_ == nullptr) {
      words_ = std::make_unique<Words>();
      words_->fill(all_);
    }
    return (*words_)[address % kBytes / kWordBytes];
  }

 private:
  using Words = std::array<WordHistory, kBytes / kWordBytes>;

  WordHistory all_;
  std::unique_ptr<Words> words_;
};

class AccessHistory {
 public:
  /// Calls body(history, address of the first byte, mask of the bytes in each word) for the words of an access, once
  /// for four that have one history.
  template <class Body>
  void visit(u64 begin, u64 bytes, Body body) {
    constexpr u8 kWholeWord = 0xf;
    const u64 end = begin + bytes;
    for (u64 at = begin; at < end;) {
      QuadHistory& quad = at_quad(at);
      const u64 stop = std::min((at / QuadHistory::kBytes + 1) * QuadHistory::kBytes, end);
      if (stop - at == QuadHistory::kBytes && quad.whole()) {
        body(quad.all(), at, kWholeWord);
      } else {
        for_each_word(at, stop - at, [&](u64 word, u64 first, u8 mask) { body(quad.word(word), first, mask); });
      }
      at = stop;
    }
  }

  void clear() {
    pages_.clear();
    last_ = nullptr;
  }

 private:
  static constexpr u64 kPageBytes = 1024;
  using Page = std::array<QuadHistory, kPageBytes / QuadHistory::kBytes>;

  [[nodiscard]] QuadHistory& at_quad(u64 address) {
    const u64 number = address / kPageBytes;
    if (number != last_number_ || last_ == nullptr) {
      auto& page = pages_[number];
      if (page == nullptr) page = std::make_unique<Page>();
      last_ = page.get();
      last_number_ = number;
    }
    return (*last_)[address % kPageBytes / QuadHistory::kBytes];
  }

  std::unordered_map<u64, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  u64 last_number_ = 0;
};

}  // namespace monojit::emulator
