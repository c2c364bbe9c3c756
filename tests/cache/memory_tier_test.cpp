#include "cache/memory_tier.h"

#include <atomic>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::example_entry;
using testing::example_key;

std::shared_ptr<const Entry> shared(int number) { return std::make_shared<const Entry>(example_entry(number)); }

TEST_CASE("memory finds the entries that were put in, by the whole key") {
  MemoryTier memory;
  const auto entry = shared(1);
  CHECK(memory.find(example_key(1)) == nullptr);
  memory.insert(entry);
  CHECK(memory.find(example_key(1)) == entry);
  CHECK(memory.find(example_key(2)) == nullptr);
  Key other_toolchain = example_key(1);  // the fast hash leaves this field out
  other_toolchain.toolchain += "!";
  CHECK(memory.find(other_toolchain) == nullptr);
  memory.insert(shared(2));
  CHECK(memory.size() == 2);
}

TEST_CASE("the first entry of a key stays, so that all callers hold the same one") {
  MemoryTier memory;
  const auto first = memory.insert(shared(1));
  CHECK(memory.insert(shared(1)) == first);
  CHECK(memory.size() == 1);
}

TEST_CASE("an erased entry lives on with those who hold it") {
  MemoryTier memory;
  const auto held = memory.insert(shared(1));
  memory.erase(example_key(1));
  memory.erase(example_key(2));
  CHECK(memory.find(example_key(1)) == nullptr);
  CHECK(held->key == example_key(1));
}

TEST_CASE("many threads fill, read and erase at once, and only ever see whole entries") {
  constexpr int kThreads = 64;
  constexpr int kKeys = 32;
  constexpr int kRounds = 300;
  MemoryTier memory;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const int number = (round * 7 + t) % kKeys;
        const Key key = example_key(number);
        if (round % 5 == t % 5) {
          memory.insert(shared(number));
        } else if (round % 11 == 0) {
          memory.erase(key);
        }
        if (const auto entry = memory.find(key); entry && *entry != example_entry(number)) ++wrong;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace monojit::cache
