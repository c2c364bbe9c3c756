#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/arguments.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using tests::kTiny;
using tests::tiny_record;

template <class T>
T at(const ArgumentLayout::Packed& packed, std::size_t offset) {
  T value;
  std::memcpy(static_cast<void*>(&value), packed.data() + offset, sizeof value);
  return value;
}

TEST_CASE("Arguments are packed at the offsets of the code object, with zeros between") {
  const ArgumentLayout layout(kTiny, tiny_record());
  ArgumentLayout::Packed packed;
  packed.fill(std::byte{0xFF});
  alignas(16) const int target = 0;
  const ArgumentValue values[] = {&target, std::int32_t{-7}, std::int64_t{1} << 40, 0.5F};
  layout.pack(values, packed);
  CHECK(layout.bytes() == 28);
  CHECK(at<const void*>(packed, 0) == &target);
  CHECK(at<std::int64_t>(packed, 8) == 0xFFFFFFF9);
  CHECK(at<std::int64_t>(packed, 16) == std::int64_t{1} << 40);
  CHECK(at<float>(packed, 24) == 0.5F);
}

TEST_CASE("An argument is found by its name, and an unknown name is refused") {
  const ArgumentLayout layout(kTiny, tiny_record());
  CHECK(layout.index("stride") == 2);
  CHECK_THROWS_MATCHES(layout.index("pitch"), UserError, Message("tests.tiny has no argument 'pitch'"));
}

TEST_CASE("A code object whose argument has another size is refused with both sizes") {
  KernelRecord record = tiny_record();
  record.arguments[1].size = 8;
  CHECK_THROWS_MATCHES(
      ArgumentLayout(kTiny, record), CodeObjectError,
      Message("tests.tiny: argument 'count' has 4 bytes at offset 8 in the argument list, but 'count' with 8 "
              "bytes at offset 8 stands there in the code object"));
}

TEST_CASE("A code object whose argument has another offset or name, or that lacks one, is refused") {
  KernelRecord moved = tiny_record();
  moved.arguments[2].offset = 12;
  CHECK_THROWS_MATCHES(ArgumentLayout(kTiny, moved), CodeObjectError, MessageMatches(ContainsSubstring("offset 12")));
  KernelRecord renamed = tiny_record();
  renamed.arguments[0].name = "date";
  CHECK_THROWS_MATCHES(ArgumentLayout(kTiny, renamed), CodeObjectError, MessageMatches(ContainsSubstring("'date'")));
  KernelRecord shorter = tiny_record();
  shorter.arguments.pop_back();
  CHECK_THROWS_MATCHES(ArgumentLayout(kTiny, shorter), CodeObjectError,
                       Message("tests.tiny: 4 arguments in the argument list, but 3 in the code object"));
}

TEST_CASE("Values of a wrong type or number are refused by name") {
  const ArgumentLayout layout(kTiny, tiny_record());
  ArgumentLayout::Packed packed;
  const ArgumentValue swapped[] = {nullptr, std::int64_t{1}, std::int64_t{1}, 0.5F};
  CHECK_THROWS_MATCHES(layout.pack(swapped, packed), UserError,
                       Message("tests.tiny: argument 'count' takes int32, not int64"));
  const ArgumentValue few[] = {nullptr};
  CHECK_THROWS_MATCHES(layout.pack(few, packed), UserError, Message("tests.tiny takes 4 arguments, not 1"));
}

TEST_CASE("An address of too little alignment is refused with what it must be a multiple of") {
  const ArgumentLayout layout(kTiny, tiny_record());
  ArgumentLayout::Packed packed;
  alignas(16) const char memory[16] = {};
  const ArgumentValue values[] = {memory + 8, std::int32_t{1}, std::int64_t{1}, 0.5F};
  CHECK_THROWS_MATCHES(layout.pack(values, packed), UserError,
                       MessageMatches(ContainsSubstring("argument 'data' is address 0x") &&
                                      ContainsSubstring("which must be a multiple of 16")));
}

}  // namespace
}  // namespace monojit::runtime
