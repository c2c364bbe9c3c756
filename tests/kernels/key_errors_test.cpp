#include <string>

#include <catch2/catch_test_macros.hpp>

#include "kernels/common/family.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels {
namespace {

using minimax_m3::kK1;

/// The message of the UserError that `call` throws; empty when it throws none.
template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

std::string parse_error(std::string_view text) {
  return message_of([&] { BuildKey::parse(text); });
}

TEST_CASE("A value out of range names the field, the value and the range") {
  CHECK(parse_error("minimax_m3.k1{tokens=0}") == "minimax_m3.k1: tokens = 0 is out of range 1..16");
  CHECK(parse_error("minimax_m3.k1{tokens=17}") == "minimax_m3.k1: tokens = 17 is out of range 1..16");
  CHECK(parse_error("minimax_m3.k1{tokens=-1}") == "minimax_m3.k1: tokens = -1 is out of range 1..16");
  CHECK(parse_error("minimax_m3.k1{tokens=99999999999999999999}") ==
        "minimax_m3.k1: tokens = 99999999999999999999 is out of range 1..16");
  CHECK(parse_error("minimax_m3.k1{tokens=1,scorer=2}") == "minimax_m3.k1: scorer = 2 is out of range 0..1");
}

TEST_CASE("A value of the wrong kind says what the field takes") {
  CHECK(parse_error("minimax_m3.k1{tokens=two}") ==
        "minimax_m3.k1: tokens = 'two' is not a whole number; it takes 1..16");
  CHECK(parse_error("minimax_m3.k1{tokens=1.5}") ==
        "minimax_m3.k1: tokens = '1.5' is not a whole number; it takes 1..16");
  CHECK(parse_error("minimax_m3.k1{tokens=1,page_stride=12}") ==
        "minimax_m3.k1: page_stride = '12' is not one of 8 or 16");
  CHECK(parse_error("minimax_m3.k1{tokens=1,kv_scale=none}") ==
        "minimax_m3.k1: kv_scale = 'none' is not one of per_token, static_one or scalar_read");
  CHECK(parse_error("minimax_m3.k1{tokens=1,eps=tiny}") ==
        "minimax_m3.k1: eps = 'tiny' is not a number; it takes 0..1");
  CHECK(parse_error("minimax_m3.k1{tokens=1,eps=inf}") == "minimax_m3.k1: eps = inf is out of range 0..1");
  CHECK(parse_error("minimax_m3.k1{tokens=1,eps=1e99}") == "minimax_m3.k1: eps = 1e99 is out of range 0..1");
}

TEST_CASE("An unknown field lists the fields there are") {
  CHECK(parse_error("minimax_m3.k1{tokens=1,foo=3}") ==
        "minimax_m3.k1: unknown field 'foo'; fields are tokens, index_heads, index_own, init_blocks, local_blocks, "
        "page_stride, kv_scale, eps, sm_scale, signal, saturate, page_base64, weight_nt, timeline, scorer, flag_drain, "
        "bounded");
}

TEST_CASE("A missing field says what to give") {
  const std::string expected =
      "minimax_m3.k1: field 'tokens' is missing: give tokens=1..16 (rows of the decode batch (S))";
  CHECK(parse_error("minimax_m3.k1{index_heads=1}") == expected);
  CHECK(parse_error("minimax_m3.k1{}") == expected);
  CHECK(parse_error("minimax_m3.k1") == expected);
}

TEST_CASE("A field given twice is refused, even with the same value") {
  CHECK(parse_error("minimax_m3.k1{tokens=1,tokens=1}") == "minimax_m3.k1: field 'tokens' is given twice");
}

TEST_CASE("An unknown kernel lists the kernels there are") {
  CHECK(parse_error("minimax_m3.k9{tokens=1}") ==
        "unknown kernel 'minimax_m3.k9'; kernels are bench.peak, common.bump, example.row_norm, kimi_k3.k2, "
        "minimax_m3.k1");
  CHECK(message_of([] { family("K1"); }) ==
        "unknown kernel 'K1'; kernels are bench.peak, common.bump, example.row_norm, kimi_k3.k2, minimax_m3.k1");
}

TEST_CASE("Malformed text says where it stops being a key") {
  const auto malformed = [](std::string_view text, std::string_view where) {
    return "malformed build key '" + std::string(text) + "': at character " + std::string(where) +
           "; write it as FAMILY{field=value,...}";
  };
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "1 stands the end instead of a kernel's name"},
      {"{tokens=1}", "1 stands '{' instead of a kernel's name"},
      {"minimax_m3.k1(tokens=1)", "14 stands '(' instead of '{'"},
      {"minimax_m3.k1{tokens=1", "23 stands the end instead of ',' or '}'"},
      {"minimax_m3.k1{tokens=1,}", "24 stands '}' instead of a field's name"},
      {"minimax_m3.k1{tokens}", "21 stands '}' instead of '='"},
      {"minimax_m3.k1{tokens=}", "22 stands '}' instead of a value"},
      {"minimax_m3.k1{tokens=1 index_heads=1}", "24 stands 'i' instead of ',' or '}'"},
      {"minimax_m3.k1{tokens=1}x", "24 stands 'x' instead of the end"},
      {"minimax_m3.k1 {tokens=1}}", "25 stands '}' instead of the end"},
  };
  for (const auto& [text, where] : cases) CHECK(parse_error(text) == malformed(text, where));
}

TEST_CASE("Values by name are refused with the same words as text") {
  const auto error = [](const std::map<std::string, std::int64_t, std::less<>>& values) {
    return message_of([&] { BuildKey::from_values(kK1, values); });
  };
  CHECK(error({{"tokens", 17}}) == "minimax_m3.k1: tokens = 17 is out of range 1..16");
  CHECK(error({{"tokens", 1}, {"kv_scale", 3}}) ==
        "minimax_m3.k1: kv_scale = 3 is not one of per_token, static_one or scalar_read");
  CHECK(error({{"tokens", 1}, {"eps", 0x7F800000}}) == "minimax_m3.k1: eps = inf is out of range 0..1");
  CHECK(error({{"tokens", 1}, {"eps", -1}}) == "minimax_m3.k1: eps = -1 is not the bit pattern of an f32");
  CHECK(error({}).starts_with("minimax_m3.k1: field 'tokens' is missing"));
  CHECK(error({{"foo", 1}}).starts_with("minimax_m3.k1: unknown field 'foo'"));
}

TEST_CASE("Asking a key for a field that it does not have names the fields") {
  const BuildKey key = BuildKey::parse("minimax_m3.k1{tokens=1}");
  CHECK(message_of([&] { static_cast<void>(key.value("rows")); }).starts_with("minimax_m3.k1: unknown field 'rows'"));
}

TEST_CASE("K1 builds for gfx950 and gfx942 and is refused for any other arch") {
  const BuildKey key = BuildKey::parse("minimax_m3.k1{tokens=1}");
  CHECK(message_of([&] { validate(key, "gfx950"); }).empty());
  CHECK(message_of([&] { validate(key, "gfx942"); }).empty());
  CHECK(message_of([&] { validate(key, "gfx90a"); }) ==
        key.text() + " can't be built for gfx90a: arch must be gfx950 or gfx942");
  CHECK(message_of([&] { validate(key, ""); }) == key.text() + " can't be built for '': arch must be gfx950 or gfx942");
}

TEST_CASE("K1's fields that contradict each other are refused, all reasons at once") {
  const BuildKey key = BuildKey::parse("minimax_m3.k1{tokens=1,index_own=2,init_blocks=9,local_blocks=8}");
  CHECK(message_of([&] { validate(key, "gfx950"); }) ==
        key.text() +
            " can't be built for gfx950: index_own=2 must be below index_heads=1; init_blocks=9 and "
            "local_blocks=8 are more than the 16 blocks that are selected");
}

}  // namespace
}  // namespace monojit::kernels
