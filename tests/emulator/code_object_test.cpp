// Code objects that are damaged: refused with a reason, whatever the damage.
#include <cstring>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/emulator/code/elf_image.h"
#include "runtime/emulator/code/kernel_info.h"
#include "tests/emulator/device.h"

namespace monojit::emulator::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr u32 kSeed = 7;
constexpr int kDamagedObjects = 3000;

std::vector<u8> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST_CASE("metadata of any shape is read or refused") {
  // Keys that are no texts, other types where texts, numbers and lists should be, and a nest without an end.
  CHECK(read_metadata(bytes_of("\x80")).empty());
  CHECK(read_metadata(bytes_of("\x81\xae"
                               "amdhsa.kernels"
                               "\x05"))
            .empty());
  CHECK(read_metadata(bytes_of("\x81\xae"
                               "amdhsa.kernels"
                               "\x91\xc3"))
            .empty());
  const auto odd =
      read_metadata(bytes_of("\x81\xae"
                             "amdhsa.kernels"
                             "\x91\x82\xa5.name\x07\xa5.args\x91\x05"));
  REQUIRE(odd.size() == 1);
  CHECK(odd[0].name.empty());
  CHECK(odd[0].arguments.empty());
  for (const std::string& broken : {std::string("\x81\x05\x05"), std::string("\xc1"),
                                    std::string("\x81\xae"
                                                "amd"),
                                    std::string(100'000, '\x91'), std::string("\xdd\xff\xff\xff\xff")}) {
    CHECK_THROWS_MATCHES(read_metadata(bytes_of(broken)), Failure, MessageMatches(ContainsSubstring("not readable")));
  }
}

TEST_CASE("an argument that lies far behind the others is refused") {
  const std::string note =
      "\x81\xae"
      "amdhsa.kernels"
      "\x91\x82\xa5.name\xa1k\xa5.args\x91\x82\xa7.offset\xce\xff\xff\xff\xff\xa5.size\x08";
  CHECK_THROWS_MATCHES(read_metadata(bytes_of(note)), Failure,
                       MessageMatches(ContainsSubstring("an argument of k lies behind")));
}

TEST_CASE("a descriptor that asks for more arguments than a launch can bring is refused before they are made") {
  constexpr std::size_t kDescriptorBytes = 64, kKernargSize = 8;
  std::vector<u8> descriptor(kDescriptorBytes);
  for (const u32 bytes : {0x10000u, 0x10001u, ~0u}) {
    CAPTURE(bytes);
    std::memcpy(descriptor.data() + kKernargSize, &bytes, sizeof bytes);
    if (bytes == 0x10000u) {
      CHECK(KernelDescriptor::parse(descriptor).kernarg_bytes == bytes);
    } else {
      CHECK_THROWS_MATCHES(KernelDescriptor::parse(descriptor), Failure,
                           MessageMatches(ContainsSubstring("bytes of arguments, where 65536 are the most")));
    }
  }
}

TEST_CASE("an object whose bytes were changed loads or is refused, and its kernels are found or not") {
  const auto whole = assemble({.name = "kernel", .body = "v_add_u32 v1, v0, v0", .arguments = 2});
  std::mt19937 random(kSeed);
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  constexpr std::size_t kHeaders = 600;
  int loaded = 0;
  Device device;
  for (int i = 0; i < kDamagedObjects; ++i) {
    auto damaged = whole;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(2) == 0 ? below(kHeaders) : below(damaged.size());
      damaged[at] = static_cast<std::byte>(below(3) == 0 ? 0xff : below(256));
    }
    try {
      static_cast<void>(ElfImage::parse({reinterpret_cast<const u8*>(damaged.data()), damaged.size()}));
      static_cast<void>(device.load(damaged, "kernel"));
      ++loaded;
    } catch (const Failure& failure) {
      CHECK(!std::string(failure.what()).empty());
    }
  }
  CHECK(loaded > 0);
  CHECK(loaded < kDamagedObjects);
}

}  // namespace
}  // namespace monojit::emulator::test
