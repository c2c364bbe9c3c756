#include <cstddef>
#include <cstdint>
#include <new>

#include <catch2/catch_test_macros.hpp>

#include "tools/shared_memory.h"

namespace monojit::tools {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 40;   // more than any machine of these tests has
constexpr std::size_t kMargin = std::size_t{1} << 22;  // pages that the system may make around a touched one

TEST_CASE("Memory that nobody touched is zero, costs nothing and is left out of what was touched") {
  SharedMemory memory(kLarge);
  const auto first = memory.take(kLarge / 2);
  const auto second = memory.take(100);
  CHECK(memory.touched(first).empty());
  std::byte& far = first[kLarge / 4];
  far = std::byte{7};
  second[99] = std::byte{8};
  std::size_t bytes = 0;
  bool found = false;
  for (const auto& part : memory.touched(first)) {
    bytes += part.size();
    found = found || (&far >= part.data() && &far < part.data() + part.size());
  }
  CHECK(found);
  CHECK(bytes < kMargin);
  REQUIRE(memory.touched(second).size() == 1);
  CHECK(memory.touched(second)[0].size() == 100);  // not what lies behind it
}

TEST_CASE("Pieces begin at pages, and more than there is can't be taken") {
  SharedMemory memory(3 * 4096);
  CHECK(reinterpret_cast<std::uintptr_t>(memory.take(1).data()) % 4096 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(memory.take(4097).data()) % 4096 == 0);
  CHECK_THROWS_AS(memory.take(1), std::bad_alloc);
}

}  // namespace
}  // namespace monojit::tools
