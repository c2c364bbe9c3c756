#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "runtime/kernel_record.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

TEST_CASE("A kernel record comes back from its JSON as it was") {
  KernelRecord record = tests::tiny_record();
  record.warnings = {"a block of 9000 instructions", "quotes \" and \xC3\xA4"};
  CHECK(record_from_json(to_json_text(record)) == record);
}

TEST_CASE("Text that is no record is refused") {
  for (const char* text : {"", "{", "[]", "{}", R"({"symbol":3})"}) {
    CHECK_THROWS_MATCHES(record_from_json(text), RecordError,
                         Catch::Matchers::MessageMatches(Catch::Matchers::StartsWith("its record can't be read: ") &&
                                                         !Catch::Matchers::ContainsSubstring("json.exception")));
  }
}

}  // namespace
}  // namespace monojit::runtime
