#include "kernels/common/key_pattern.h"

#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/models.h"

namespace monojit::kernels {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

std::vector<std::string> texts(const char* pattern) {
  std::vector<std::string> list;
  for (const BuildKey& key : expand_pattern(pattern)) list.push_back(key.text());
  return list;
}

std::vector<std::string> parsed(const std::vector<const char*>& keys) {
  std::vector<std::string> list;
  for (const char* key : keys) list.push_back(BuildKey::parse(key).text());
  return list;
}

TEST_CASE("A key is a pattern of itself") {
  CHECK(texts("minimax_m3.k1{tokens=3}") == parsed({"minimax_m3.k1{tokens=3}"}));
  CHECK(texts(" common.bump ") == parsed({"common.bump{}"}));
}

TEST_CASE("Alternatives, ranges and every value are taken in turn, the last field fastest") {
  CHECK(texts("minimax_m3.k1{tokens=1|2|8,signal=*}") ==
        parsed({"minimax_m3.k1{tokens=1}", "minimax_m3.k1{tokens=1,signal=1}", "minimax_m3.k1{tokens=2}",
                "minimax_m3.k1{tokens=2,signal=1}", "minimax_m3.k1{tokens=8}", "minimax_m3.k1{tokens=8,signal=1}"}));
  CHECK(texts("minimax_m3.k1{ tokens = 2..3 | 16 }") ==
        parsed({"minimax_m3.k1{tokens=2}", "minimax_m3.k1{tokens=3}", "minimax_m3.k1{tokens=16}"}));
  CHECK(texts("minimax_m3.k1{kv_scale=*,tokens=1}") ==
        parsed({"minimax_m3.k1{tokens=1,kv_scale=per_token}", "minimax_m3.k1{tokens=1,kv_scale=static_one}",
                "minimax_m3.k1{tokens=1,kv_scale=scalar_read}"}));
  CHECK(texts("example.row_norm{rows=1,hidden=512,eps=1e-6|0.5}").size() == 2);
  CHECK(expand_pattern("minimax_m3.k1{tokens=*,init_blocks=*}").size() == 256);
}

TEST_CASE("A key that a pattern gives twice comes once, at its first place") {
  CHECK(texts("minimax_m3.k1{tokens=5|3..6|3}") == parsed({"minimax_m3.k1{tokens=5}", "minimax_m3.k1{tokens=3}",
                                                           "minimax_m3.k1{tokens=4}", "minimax_m3.k1{tokens=6}"}));
}

TEST_CASE("A pattern that is wrong says what is") {
  const auto refused = [](const char* pattern, const char* text) {
    CAPTURE(pattern);
    CHECK_THROWS_MATCHES(expand_pattern(pattern), UserError, MessageMatches(ContainsSubstring(text)));
  };
  refused("", "a kernel's name");
  refused("nothing.k9{a=1}", "unknown kernel 'nothing.k9'");
  refused("minimax_m3.k1{tokens=}", "a value or '*'");
  refused("minimax_m3.k1{tokens=1|}", "a value or '*'");
  refused("minimax_m3.k1{tokens=1|*}", "a value or '*'");
  refused("minimax_m3.k1{tokens=*|1}", "',' or '}'");
  refused("minimax_m3.k1{tokens=*", "the end");
  refused("minimax_m3.k1{tokens=1}x", "the end");
  refused("minimax_m3.k1{tokens=1,tokens=2}", "field 'tokens' is given twice");
  refused("minimax_m3.k1{tokens=1,color=*}", "unknown field 'color'; fields are tokens, ");
  refused("minimax_m3.k1{tokens=0..3}", "tokens = 0 is out of range 1..16");
  refused("minimax_m3.k1{tokens=3..2}", "3 is above 2");
  refused("minimax_m3.k1{tokens=1..}", "'' is not a whole number");
  refused("minimax_m3.k1{tokens=1,kv_scale=per_token|none}", "kv_scale = 'none' is not one of");
  refused("minimax_m3.k1{tokens=1,eps=*}", "eps=* has no end");
  refused("minimax_m3.k1{signal=*}", "field 'tokens' is missing");
}

TEST_CASE("A pattern of too many keys is refused before they are made") {
  CHECK_THROWS_MATCHES(expand_pattern("kimi_k3.k2{tokens=1,nblocks=1,fault_rank=0,fault_epoch=*}"), UserError,
                       MessageMatches(ContainsSubstring("more than 100000 keys") &&
                                      ContainsSubstring("fault_epoch takes 2147483648 values")));
  CHECK(expand_pattern("minimax_m3.k1{tokens=*}", 16).size() == 16);
  CHECK_THROWS_AS(expand_pattern("minimax_m3.k1{tokens=*}", 15), UserError);
}

TEST_CASE("Every model's patterns name keys that can be built, and those of its families are among them") {
  for (const Model& each : models()) {
    CAPTURE(each.name);
    CHECK(&model(each.name) == &each);
    std::set<std::string> built;
    for (const std::string_view pattern : each.patterns) {
      for (const BuildKey& key : expand_pattern(pattern)) {
        std::vector<std::string> reasons;
        key.family().check(key, "gfx950", reasons);
        if (reasons.empty()) built.insert(std::string(key.family().name));
      }
    }
    for (const Family* family : families()) {
      if (family->name.starts_with(std::string(each.name) + ".")) CHECK(built.contains(std::string(family->name)));
    }
  }
  CHECK_THROWS_MATCHES(model("gpt"), UserError, MessageMatches(ContainsSubstring("models are kimi_k3, minimax_m3")));
}

}  // namespace
}  // namespace monojit::kernels
