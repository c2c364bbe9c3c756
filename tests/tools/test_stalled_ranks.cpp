#include <cstdlib>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "tools/stalled_ranks.h"

namespace monojit::tools {
namespace {

constexpr const char* kVariable = "MONOJIT_EMULATOR_STALL";

TEST_CASE("A rank's process is left what names its rank, as its device 0, and what names none") {
  CHECK(stalled_of_rank("3:17", 3) == "0:17");
  CHECK(stalled_of_rank("3:17", 0).empty());
  CHECK(stalled_of_rank("3:*,0:5,17", 3) == "0:*,17");
  CHECK(stalled_of_rank("3:*,0:5,17", 0) == "0:5,17");
  CHECK(stalled_of_rank("", 0).empty());
  CHECK(stalled_of_rank("x:1,-,3:y,", 3) == "x:1,-,0:y,");  // the emulator refuses them
}

TEST_CASE("A rank that is none is refused by name") {
  setenv(kVariable, "17,7:1", 1);
  CHECK_NOTHROW(check_stalled_ranks(8));
  setenv(kVariable, "17,8:1", 1);
  CHECK_THROWS_WITH(check_stalled_ranks(8),
                    "MONOJIT_EMULATOR_STALL=17,8:1: 8:1 names rank 8; with a process a rank "
                    "its device is the rank, and ranks are 0..7");
  unsetenv(kVariable);
  CHECK_NOTHROW(check_stalled_ranks(8));
}

}  // namespace
}  // namespace monojit::tools
