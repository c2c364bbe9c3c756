#include <climits>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "codegen/comgr/actions.h"
#include "codegen/comgr/library.h"
#include "codegen/error.h"
#include "codegen/toolchain.h"
#include "toolchain_id.h"

namespace monojit::codegen::comgr {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr const char* kNowhere = "/nonexistent/libamd_comgr.so";

TEST_CASE("comgr is opened once, with a version") {
  const Library& library = Library::instance();
  CHECK(&library == &Library::instance());
  CHECK_THAT(library.path(), ContainsSubstring("comgr"));
  CHECK_THAT(library.version(), ContainsSubstring("."));
}

TEST_CASE("a comgr that is not there is an error that names what was tried and what to do") {
  const std::vector<std::string> names = {kNowhere, "libamd_comgr_of_the_future.so.99"};
  CHECK_THROWS_MATCHES(
      Library(names), CodegenError,
      MessageMatches(ContainsSubstring(kNowhere) && ContainsSubstring("libamd_comgr_of_the_future.so.99") &&
                     ContainsSubstring("ROCm 7") && ContainsSubstring("MONOJIT_COMGR_LIBRARY")));
}

TEST_CASE("a library that is not comgr is refused by the function it lacks") {
  const std::vector<std::string> names = {"libc.so.6"};
  CHECK_THROWS_MATCHES(Library(names), CodegenError, MessageMatches(ContainsSubstring("amd_comgr_get_version")));
}

// Run by the test below in a process of its own, as one process opens comgr once.
TEST_CASE("child: comgr named by the environment is missing", "[.][comgr-child]") {
  CHECK_THROWS_MATCHES(Library::instance(), CodegenError, MessageMatches(ContainsSubstring(kNowhere)));
}

TEST_CASE("MONOJIT_COMGR_LIBRARY names the comgr to take, and no other is") {
  char self[PATH_MAX] = {};
  REQUIRE(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  const std::string command =
      fmt::format("MONOJIT_COMGR_LIBRARY={} '{}' '[comgr-child]' > /dev/null 2>&1", kNowhere, self);
  CHECK(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
}

TEST_CASE("bytes that are no bitcode fail with comgr's reason") {
  const std::vector<std::byte> garbage(64, std::byte{0x5a});
  const std::vector<std::string> options = {"-O3"};
  CHECK_THROWS_MATCHES(codegen(garbage, "gfx950", options), CodegenError,
                       MessageMatches(ContainsSubstring("code generation") && ContainsSubstring("gfx950") &&
                                      ContainsSubstring("error")));
}

TEST_CASE("an arch that comgr does not know is an error that names it") {
  const std::vector<std::byte> garbage(64, std::byte{0x5a});
  CHECK_THROWS_MATCHES(link(garbage, "gfx9999"), CodegenError, MessageMatches(ContainsSubstring("gfx9999")));
}

TEST_CASE("the toolchain found at run time is the one that this build is pinned to") {
  CHECK(toolchain_id() == kPinnedToolchain);
}

}  // namespace
}  // namespace monojit::codegen::comgr
