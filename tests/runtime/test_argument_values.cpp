#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include "runtime/argument_values.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::Message;

TEST_CASE("Arguments given by name, in any order, stand in the order of the list") {
  ArgumentValues values(tests::kTiny);
  values.set("scale", 7.0F).set("count", std::int32_t{5}).set("data", nullptr).set("stride", std::int64_t{6});
  REQUIRE(values.values().size() == 4);
  CHECK(values.values()[1].bits() == 5);
  CHECK(values.values()[2].bits() == 6);
  CHECK(values.takes("count"));
  CHECK_FALSE(values.takes("counts"));
}

TEST_CASE("A name that the kernel lacks and names that were not given are refused, all of them") {
  ArgumentValues values(tests::kTiny);
  CHECK_THROWS_MATCHES(values.set("counts", 1), UserError, Message("tests.tiny has no argument 'counts'"));
  values.set("count", 1);
  CHECK_THROWS_MATCHES(values.values(), UserError, Message("tests.tiny lacks arguments data, stride, scale"));
}

}  // namespace
}  // namespace monojit::runtime
