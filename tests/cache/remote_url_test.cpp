// URLs of remote stores.

#include <catch2/catch_test_macros.hpp>

#include "cache/remote/url.h"

namespace monojit::cache {
namespace {

std::string problem_of(std::string_view text) {
  const auto parsed = parse_remote_url(text);
  const auto* problem = std::get_if<std::string>(&parsed);
  return problem == nullptr ? "" : *problem;
}

TEST_CASE("a URL of a Redis server has a host, a port and a database") {
  const auto url = std::get<RemoteUrl>(parse_remote_url("redis://cache.example:7000/3?timeout_ms=250&readonly"));
  CHECK(url.scheme == RemoteUrl::Scheme::kRedis);
  CHECK(url.host == "cache.example");
  CHECK(url.port == 7000);
  CHECK(url.path == "3");
  CHECK(url.timeout == std::chrono::milliseconds(250));
  CHECK(url.read_only);
  CHECK(url.shown() == "redis://cache.example:7000/3");
  CHECK(std::get<RemoteUrl>(parse_remote_url("redis://cache")).port == 6379);
}

TEST_CASE("a URL of an HTTP server has a path, without a slash at its end") {
  const auto url = std::get<RemoteUrl>(parse_remote_url("http://[::1]:8080/kernels/gfx950/"));
  CHECK(url.shown() == "http://[::1]:8080/kernels/gfx950");
  CHECK(url.scheme == RemoteUrl::Scheme::kHttp);
  CHECK(url.host == "::1");
  CHECK(url.port == 8080);
  CHECK(url.path == "/kernels/gfx950");
  CHECK_FALSE(url.read_only);
  CHECK(std::get<RemoteUrl>(parse_remote_url("http://cache")).port == 80);
}

TEST_CASE("a URL's password is used, not shown") {
  const auto url = std::get<RemoteUrl>(parse_remote_url("redis://:sec@ret@cache/0"));
  CHECK(url.user.empty());
  CHECK(url.password == "sec@ret");
  CHECK(url.host == "cache");
  CHECK(url.shown() == "redis://cache:6379/0");
  CHECK(problem_of("redis://:secret@:99").find("secret") == std::string::npos);
  for (const char* text : {"redis://:pa?ss@h", "redis://:pa?ss&x@h", "http://user:12/ss@h", "http://user:12?ss@h/p"}) {
    CAPTURE(text);
    CHECK(problem_of(text) == "it has an @ behind a / or ? (its user and password may hold neither)");
  }
}

TEST_CASE("an option that a URL does not take is named without its value, which may be a password") {
  const std::string problem = problem_of("redis://host?password=secret&readonly");
  CHECK(problem.starts_with("password is no option of it"));
  CHECK(problem.find("secret") == std::string::npos);
}

TEST_CASE("a URL that means nothing is refused") {
  for (const char* text :
       {"", "cache", "https://cache", "redis://", "http:///path", "redis://host:0", "redis://host:99999",
        "redis://host:port", "redis://host/db", "redis://host/-1", "http://host?fast", "http://host?timeout_ms=0",
        "http://host?timeout_ms=x", "http://[::1", "http://[::1]80"}) {
    CAPTURE(text);
    CHECK_FALSE(problem_of(text).empty());
  }
}

}  // namespace
}  // namespace monojit::cache
