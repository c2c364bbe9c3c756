#include "environment/variables.h"

#include <cstdlib>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace monojit::environment {
namespace {

TEST_CASE("Every variable has a name of its own with our prefix, a meaning and a default") {
  std::set<std::string> names;
  for (const Variable& variable : kVariables) {
    CAPTURE(variable.name);
    CHECK(std::string_view(variable.name).starts_with(kPrefix));
    CHECK_FALSE(variable.meaning.empty());
    CHECK_FALSE(variable.fallback.empty());
    CHECK(names.insert(variable.name).second);
    CHECK(name(variable.id) == std::string_view(variable.name));
  }
}

TEST_CASE("A value is what the environment has; an empty one is none") {
  setenv("MONOJIT_CACHE_DIR", "/x", 1);
  CHECK(value(Id::kCacheDir) == std::string_view("/x"));
  setenv("MONOJIT_CACHE_DIR", "", 1);
  CHECK(value(Id::kCacheDir) == nullptr);
  unsetenv("MONOJIT_CACHE_DIR");
  CHECK(value(Id::kCacheDir) == nullptr);
}

TEST_CASE("Names with our prefix that mean nothing are found, others are none of our business") {
  setenv("MONOJIT_CACHE_DIRS", "1", 1);
  setenv("MONOJIT_", "", 1);
  setenv("MONOJITS_THING", "1", 1);
  const auto names = unknown();
  const std::set<std::string> found(names.begin(), names.end());
  CHECK(found.contains("MONOJIT_CACHE_DIRS"));
  CHECK(found.contains("MONOJIT_"));
  CHECK_FALSE(found.contains("MONOJITS_THING"));
  CHECK_FALSE(found.contains("MONOJIT_CACHE_DIR"));
  unsetenv("MONOJIT_CACHE_DIRS");
  unsetenv("MONOJIT_");
  unsetenv("MONOJITS_THING");
}

TEST_CASE("The nearest name is the one that a slip of the hand would have missed") {
  CHECK(nearest("MONOJIT_CACHE_DRI").id == Id::kCacheDir);
  CHECK(nearest("MONOJIT_COMGR_LIBARY").id == Id::kComgrLibrary);
  CHECK(nearest("MONOJIT_EMULATOR_TREADS").id == Id::kEmulatorThreads);
}

}  // namespace
}  // namespace monojit::environment
