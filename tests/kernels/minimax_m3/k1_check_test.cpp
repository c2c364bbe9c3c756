#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "kernels/common/health.h"
#include "kernels/common/workload.h"
#include "kernels/minimax_m3/k1/layout.h"
#include "kernels/minimax_m3/k1/reference/check.h"
#include "kernels/minimax_m3/k1/reference/generate.h"
#include "kernels/minimax_m3/k1/reference/k1_case.h"

namespace monojit::kernels::minimax_m3 {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("generated tensors are one for every argument, in order, and fit for a launch") {
  for (const char* arch : {"gfx950", "gfx942"}) {
    for (const int stride : {8, 16}) {
      for (const KvScale mode : {KvScale::kPerToken, KvScale::kStaticOne, KvScale::kScalarRead}) {
        const K1Case a_case({.tokens = 2, .page_stride = stride, .kv_scale = mode}, arch, 1);
        CHECK_NOTHROW(a_case.check());
        REQUIRE(a_case.tensors.size() == std::size(kK1Arguments));
        for (std::size_t i = 0; i < a_case.tensors.size(); ++i) CHECK(a_case.tensors[i].name == kK1Arguments[i].name);
      }
    }
  }
}

TEST_CASE("one seed gives one set of tensors, another seed others") {
  const K1Case first({}, "gfx950", 1);
  const K1Case again({}, "gfx950", 1);
  const K1Case other({}, "gfx950", 2);
  for (const char* name : {"ar", "w_qkv", "s_qkv", "k_cache", "block_table", "g_q"}) {
    CHECK(reference::named(first.tensors, name).bytes == reference::named(again.tensors, name).bytes);
    CHECK(reference::named(first.tensors, name).bytes != reference::named(other.tensors, name).bytes);
  }
}

TEST_CASE("some seeds have a padding row last") {
  const K1Case padded({.tokens = 2}, "gfx950", kPadRemainder);
  CHECK(reference::elements<std::int64_t>(padded.tensors, "slot_mapping")[1] == -1);
  CHECK(reference::elements<std::int32_t>(padded.tensors, "seq_lens")[1] == 0);
  CHECK(reference::elements<std::int64_t>(padded.tensors, "slot_mapping")[0] >= 0);
  CHECK_NOTHROW(padded.check());
}

TEST_CASE("caches and tables of another size are welcome") {
  K1Case a_case;
  Tensor& table = reference::named(a_case.tensors, "cos_sin");
  table.shape[0] *= 2;
  table.bytes.resize(table.bytes.size() * 2);
  Tensor& cache = reference::named(a_case.tensors, "k_cache");
  cache.shape[0] += 3;
  cache.bytes.resize(cache.bytes.size() + std::size_t{3} * kPageBytes);
  reference::named(a_case.tensors, "layer").shape.clear();  // 0-d
  CHECK_NOTHROW(a_case.check());
}

struct BadInput {
  const char* what;
  std::function<void(K1Case&)> spoil;
  const char* message;
};

std::vector<BadInput> bad_inputs() {
  return {
      {"dtype", [](K1Case& c) { reference::named(c.tensors, "ar").dtype = DType::kFloat32; },
       "tensor ar: is f32, must be bf16"},
      {"shape", [](K1Case& c) { reference::named(c.tensors, "g_in").shape = {2, 3072}; },
       "tensor g_in: has shape [2][3072], must be [6144]"},
      {"rank", [](K1Case& c) { reference::named(c.tensors, "cos_sin").shape = {262144}; },
       "tensor cos_sin: has shape [262144], must be [any][64]"},
      {"bytes", [](K1Case& c) { reference::named(c.tensors, "res").bytes.pop_back(); },
       "tensor res: holds 12287 bytes"},
      {"order", [](K1Case& c) { std::swap(c.tensors[0], c.tensors[1]); }, "tensor res: stands where ar belongs"},
      {"count", [](K1Case& c) { c.tensors.pop_back(); }, "takes 29 tensors, not 28"},
      {"layer", [](K1Case& c) { c.set_launch(0, 127); }, "tensor layer: is 127, must be 0..126"},
      {"q_len", [](K1Case& c) { c.of<std::int32_t>("q_len")[0] = 2; }, "tensor q_len: is 2"},
      {"bt_width", [](K1Case& c) { c.of<std::int32_t>("bt_width")[0] = 31; },
       "tensor bt_width: is 31, but rows of block_table"},
      {"position", [](K1Case& c) { c.set_position(0, 4096); },
       "tensor positions: position 4096 is outside of cos_sin's 4096 rows"},
      {"negative position", [](K1Case& c) { c.set_position(0, -1); }, "tensor positions: position -1"},
      {"slot", [](K1Case& c) { c.set_slot(0, 8192); },
       "tensor slot_mapping: slot 8192 is beyond the 1024 pages or blocks"},
      {"wide slot", [](K1Case& c) { c.set_slot(0, std::int64_t{1} << 32); }, "slot 4294967296 does not fit in 32 bits"},
      {"wide negative slot", [](K1Case& c) { c.set_slot(0, -(std::int64_t{1} << 32)); }, "does not fit in 32 bits"},
      {"long sequence", [](K1Case& c) { c.of<std::int32_t>("seq_lens")[0] = 4097; },
       "tensor seq_lens: 4097 keys of row 0"},
      {"block", [](K1Case& c) { c.of<std::int32_t>("block_table")[0] = 9999; },
       "tensor block_table: block 0 of row 0 is 9999"},
      {"negative block", [](K1Case& c) { c.of<std::int32_t>("block_table")[0] = -1; },
       "tensor block_table: block 0 of row 0 is -1"},
      {"negative length", [](K1Case& c) { c.of<std::int32_t>("seq_lens")[0] = -1; },
       "tensor seq_lens: -1 keys of row 0"},
      {"q_len 0", [](K1Case& c) { c.of<std::int32_t>("q_len")[0] = 0; }, "tensor q_len: is 0, must be 1..1"},
      {"table width", [](K1Case& c) { c.of<std::int32_t>("bt_width")[0] = 8193; },
       "tensor bt_width: is 8193, must be 1..8192"},
      {"scale", [](K1Case& c) { c.set("s_qkv", 3, -1); }, "tensor s_qkv: scale -1 of row 3"},
      {"stale scratch",
       [](K1Case& c) { reference::named(c.tensors, "scratch") = reference::named(c.expected(), "scratch"); },
       "tensor scratch: already holds values of step"},
  };
}

TEST_CASE("tensors that must not be launched are refused by name") {
  for (const BadInput& bad : bad_inputs()) {
    INFO(bad.what);
    K1Case a_case;
    bad.spoil(a_case);
    CHECK_THROWS_MATCHES(a_case.check(), UserError, MessageMatches(ContainsSubstring(bad.message)));
  }
}

void check_refused(const K1Case& a_case, const char* message) {
  CHECK_THROWS_MATCHES(a_case.check(), UserError, MessageMatches(ContainsSubstring(message)));
}

TEST_CASE("more rows than 16 are refused") {
  K1Case a_case({.tokens = 16});
  a_case.key.tokens = 17;
  check_refused(a_case, "tokens = 17 is out of range 1..16");
}

TEST_CASE("requests of several rows need signal and whole requests") {
  K1Case a_case({.tokens = 6});
  a_case.of<std::int32_t>("q_len")[0] = 4;
  check_refused(a_case, "tensor q_len: 4 rows a request do not divide the 6 rows");
  a_case.of<std::int32_t>("q_len")[0] = 3;
  check_refused(a_case, "a build without signal can't score keys of this launch: use q_len 1 or signal=1");
  a_case.key.signal = true;
  CHECK_NOTHROW(a_case.check());
}

TEST_CASE("a mailbox that holds this launch's tag is refused, whichever it is") {
  struct Mailbox {
    const char* tensor;
    std::size_t word;
  };
  const Mailbox mailboxes[] = {
      {"scratch", 1}, {"scratch", 573440 / 4 + 31}, {"scratch", 573568 / 4 + 1}, {"scratch", 576128 / 4 + 31},
      {"iscore", 1},  {"iscore", 2 * 16 * 8192 - 1}};
  for (const Mailbox& mailbox : mailboxes) {
    K1Case a_case;
    a_case.set_launch(4, 5);
    CHECK_NOTHROW(a_case.check());
    a_case.of<std::uint32_t>(mailbox.tensor)[mailbox.word] = 4 * 128 + 5 + 1;
    check_refused(a_case, "already holds values of step 4 and layer 5: zero it, or raise step");
  }
}

TEST_CASE("health words of an earlier launch that failed are told and refused") {
  K1Case a_case;
  const auto words = a_case.of<std::uint32_t>("scratch").subspan(475136 / 4);
  words[0] = 1;
  words[8 * 4] = 1;  // workgroup 3
  words[8 * 4 + 1] = region_id("qkv");
  words[8 * 4 + 5] = 3;
  check_refused(a_case, "tensor scratch: its health words are not 0: zero the whole of it");
  check_refused(a_case, "qkv");
  a_case.key.bounded = false;
  CHECK_NOTHROW(a_case.check());
}

TEST_CASE("a new key in a block that is scored without waiting for it is refused") {
  K1Case a_case({.tokens = 2});
  a_case.set_requests({.lengths = {20 * 128, 5}});
  CHECK_NOTHROW(a_case.check());
  const std::int64_t block = a_case.of<std::int32_t>("block_table")[18];
  const std::int64_t page = a_case.of<std::int32_t>("block_table")[19];  // of the new key: holds K and V
  a_case.of<std::int32_t>("block_table")[18] = static_cast<std::int32_t>(page == 63 ? 62 : page + 1);
  a_case.set_slot(1, a_case.of<std::int32_t>("block_table")[18] * 128 + 9);
  check_refused(a_case, "lies in block 18 of row 0, which is scored without waiting for its new key");
  a_case.key.scorer = false;
  CHECK_NOTHROW(a_case.check());
  a_case.key.scorer = true;
  a_case.of<std::int32_t>("block_table")[18] = static_cast<std::int32_t>(block);
  CHECK_NOTHROW(a_case.check());
}

TEST_CASE("with signal, new keys may lie in blocks that wait for them") {
  K1Case a_case({.tokens = 2, .signal = true});
  a_case.set_requests({.q_len = 2, .lengths = {20 * 128 + 1}});
  CHECK_NOTHROW(a_case.check());  // row 0 inserts into block 19, which is scored after a wait
  a_case.key.signal = false;
  a_case.of<std::int32_t>("q_len")[0] = 1;
  CHECK_THROWS_AS(a_case.check(), UserError);
}

TEST_CASE("two tokens can't share a slot") {
  K1Case a_case({.tokens = 2});
  a_case.set_slot(0, 5);
  a_case.set_slot(1, 5);
  CHECK_THROWS_MATCHES(a_case.check(), UserError,
                       MessageMatches(ContainsSubstring("two tokens are inserted at slot 5")));
}

TEST_CASE("gfx942 refuses weight bytes that mean something else there") {
  for (const int byte : {0x80, 0x7F, 0xFF}) {
    K1Case a_case({}, "gfx942");
    a_case.of<std::uint8_t>("w_qkv")[12345] = static_cast<std::uint8_t>(byte);
    CHECK_THROWS_MATCHES(a_case.check(), UserError, MessageMatches(ContainsSubstring("tensor w_qkv: holds byte 0x")));
  }
}

TEST_CASE("an unknown chip is refused") { CHECK_THROWS_AS(K1Case({}, "gfx90a"), UserError); }

TEST_CASE("the workload of the family does the same through a build key") {
  const BuildKey key = BuildKey::parse("minimax_m3.k1{tokens=1,kv_scale=static_one}");
  const Workload& k1 = workload(key.family());
  const std::vector<Tensor> before = k1.generate(key, "gfx950", 1);
  CHECK_NOTHROW(k1.check(key, "gfx950", before));
  for (const Comparison& row : k1.compare(key, "gfx950", {}, before, before)) {
    const bool untouched = row.name == "scratch" || row.name == "inputs" || row.name == "tl";
    CHECK(row.ok == untouched);  // nothing was launched
  }
}

}  // namespace
}  // namespace monojit::kernels::minimax_m3
