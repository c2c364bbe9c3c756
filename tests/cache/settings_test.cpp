// Limits as people write them, and what the environment says.

#include "cache/settings.h"

#include <map>

#include <catch2/catch_test_macros.hpp>

#include "tests/cache/fixture.h"

namespace monojit::cache {
namespace {

using testing::WarningLog;

Settings settings_of(const std::map<std::string, std::string>& variables, WarningLog& log) {
  const auto environment = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  return Settings::from(environment, Warnings(log.callback()));
}

TEST_CASE("sizes are numbers with a unit of 1024") {
  CHECK(parse_size("0") == 0U);
  CHECK(parse_size("1000") == 1000U);
  CHECK(parse_size("7B") == 7U);
  CHECK(parse_size("3k") == 3U << 10);
  CHECK(parse_size("3KB") == 3U << 10);
  CHECK(parse_size("500M") == 500U << 20);
  CHECK(parse_size("10GiB") == std::uint64_t{10} << 30);
  CHECK(parse_size("2T") == std::uint64_t{2} << 40);
  for (const char* wrong : {"", "G", "-1", "1.5G", "10X", "10GG", "10iB", "1 G", "18446744073709551616", "17000000T"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_size(wrong).has_value());
  }
}

TEST_CASE("ages are numbers with a unit of time") {
  CHECK(parse_age("90") == 90);
  CHECK(parse_age("90s") == 90);
  CHECK(parse_age("10m") == 600);
  CHECK(parse_age("12h") == 43'200);
  CHECK(parse_age("30d") == 2'592'000);
  CHECK(parse_age("2w") == 1'209'600);
  for (const char* wrong : {"", "d", "-3d", "3y", "3dd", "9223372036854775808", "9223372036854775807w"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_age(wrong).has_value());
  }
}

TEST_CASE("without variables a cache is private, of 5 GiB, and alone") {
  WarningLog log;
  const Settings settings = settings_of({}, log);
  CHECK(settings.limits.max_bytes == std::uint64_t{5} << 30);
  CHECK(settings.limits.max_age_s == 0);
  CHECK(settings.modes_in("/nonexistent").folder == 0700);
  CHECK(settings.modes_in("/nonexistent").file == 0600);
  CHECK(settings.read_only.empty());
  CHECK(settings.remote.empty());
  CHECK(log.lines().empty());
}

TEST_CASE("variables set limits, permissions and tiers") {
  WarningLog log;
  const Settings settings = settings_of({{"MONOJIT_CACHE_MAX_SIZE", "2G"},
                                         {"MONOJIT_CACHE_MAX_AGE", "30d"},
                                         {"MONOJIT_CACHE_UMASK", "002"},
                                         {"MONOJIT_CACHE_READONLY", "/opt/a::/opt/b.monopack"},
                                         {"MONOJIT_CACHE_REMOTE", "redis://cache"}},
                                        log);
  CHECK(settings.limits.max_bytes == std::uint64_t{2} << 30);
  CHECK(settings.limits.max_age_s == 2'592'000);
  CHECK(settings.modes_in("/nonexistent").folder == 0775);
  CHECK(settings.modes_in("/nonexistent").file == 0664);
  CHECK(settings.read_only == std::vector<std::filesystem::path>{"/opt/a", "/opt/b.monopack"});
  CHECK(settings.remote == "redis://cache");
  CHECK(log.lines().empty());
}

TEST_CASE("a umask never takes the owner's own rights") {
  CHECK(Modes::with_umask(0777).folder == 0700);
  CHECK(Modes::with_umask(0777).file == 0600);
  CHECK(Modes::with_umask(0027).folder == 0750);
}

TEST_CASE("a variable that means nothing is named with what it wants, and counts as not set") {
  WarningLog log;
  const Settings settings = settings_of({{"MONOJIT_CACHE_MAX_SIZE", "lots"}, {"MONOJIT_CACHE_UMASK", "8"}}, log);
  CHECK(settings.limits.max_bytes == Settings::kDefaultMaxBytes);
  CHECK_FALSE(settings.modes.has_value());
  REQUIRE(log.lines().size() == 2);
  CHECK(log.lines()[0] ==
        "MONOJIT_CACHE_MAX_SIZE=lots is not used: it wants a size such as 500M or 10G, 0 for no limit");
  CHECK(log.lines()[1] == "MONOJIT_CACHE_UMASK=8 is not used: it wants an octal mask such as 002");
}

}  // namespace
}  // namespace monojit::cache
