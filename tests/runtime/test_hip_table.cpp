#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "runtime/hip/table.h"
#include "tests/runtime/fake_device.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("A library that is missing is named, with the loader's reason") {
  CHECK_THROWS_MATCHES(HipTable::open_file("/nonexistent/libamdhip64.so", Provider::kHip), UserError,
                       MessageMatches(ContainsSubstring("can't load the HIP library /nonexistent/libamdhip64.so") &&
                                      ContainsSubstring("No such file")));
}

TEST_CASE("A library that is no HIP is refused with the function that it lacks") {
  CHECK_THROWS_MATCHES(
      HipTable::open_file(MONOJIT_NOT_HIP, Provider::kHip), UserError,
      MessageMatches(ContainsSubstring("has no function hipInit") && ContainsSubstring("MONOJIT_HIP_LIBRARY")));
}

TEST_CASE("Every function of the table is filled, and a symbol only the emulator has is found or null") {
  const tests::FakeDevice fake;
#define MONOJIT_HIP_FUNCTION(name, parameters) CHECK(fake.table->name != nullptr);
#include "runtime/hip/functions.inc"
#undef MONOJIT_HIP_FUNCTION
  CHECK(fake.table->optional_symbol("monojitEmulatorLastFault") != nullptr);
  CHECK(fake.table->optional_symbol("monojitEmulatorUnheardOf") == nullptr);
  CHECK(HipTable::empty("none", Provider::kHip)->optional_symbol("hipInit") == nullptr);
}

}  // namespace
}  // namespace monojit::runtime
