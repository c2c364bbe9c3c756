// The latest accesses to each word of memory, by which waves.
#pragma once

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

class AccessHistory {
 public:
  static constexpr u64 kWordBytes = 4;

  [[nodiscard]] WordHistory& at(u64 address) {
    const u64 number = address / kPageBytes;
    if (number != last_number_ || last_ == nullptr) {
      auto& page = pages_[number];
      if (page == nullptr) page = std::make_unique<Page>();
      last_ = page.get();
      last_number_ = number;
    }
    return (*last_)[address % kPageBytes / kWordBytes];
  }
  void clear() {
    pages_.clear();
    last_ = nullptr;
  }

 private:
  static constexpr u64 kPageBytes = 1024;
  using Page = std::array<WordHistory, kPageBytes / kWordBytes>;

  std::unordered_map<u64, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  u64 last_number_ = 0;
};

}  // namespace monojit::emulator
