#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "kernels/common/family.h"
#include "kernels/minimax_m3/k1/key.h"

namespace monojit::kernels {
namespace {

using minimax_m3::kK1;

constexpr std::string_view kOneToken =
    "minimax_m3.k1{tokens=1,index_heads=1,index_own=0,init_blocks=0,local_blocks=1,page_stride=16,kv_scale=per_token,"
    "eps=1e-06,sm_scale=0.088388346,signal=0,saturate=1,page_base64=1,weight_nt=0,timeline=0,scorer=1,flag_drain=1,"
    "bounded=1}";

/// A legal value of the field other than `value`; none when it takes only one.
std::optional<std::int64_t> another_value(const Field& field, std::int64_t value) {
  switch (field.kind) {
    case FieldKind::kInteger:
      if (field.first == field.last) return std::nullopt;
      return value == field.first ? field.last : field.first;
    case FieldKind::kChoice:
      for (const Choice& choice : field.choices) {
        if (choice.value != value) return choice.value;
      }
      return std::nullopt;
    case FieldKind::kFloat32:
      break;
  }
  return value + 1;
}

using Values = std::map<std::string, std::int64_t, std::less<>>;

Values values_by_name(const BuildKey& key) {
  Values values;
  for (std::size_t i = 0; i < key.values().size(); ++i) values.emplace(key.family().fields[i].name, key.values()[i]);
  return values;
}

/// For every field that takes more than one value: `base` with that field alone changed.
std::vector<BuildKey> with_each_field_changed(const BuildKey& base) {
  std::vector<BuildKey> keys;
  for (std::size_t i = 0; i < base.values().size(); ++i) {
    const Field& field = base.family().fields[i];
    const std::optional<std::int64_t> other = another_value(field, base.values()[i]);
    if (!other) continue;
    Values values = values_by_name(base);
    values[std::string(field.name)] = *other;
    keys.push_back(BuildKey::from_values(base.family(), values));
  }
  return keys;
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

TEST_CASE("A key's text names every field in the order of the family's list") {
  CHECK(BuildKey::parse("minimax_m3.k1{tokens=1}").text() == kOneToken);
}

TEST_CASE("Fields may come in any order, with blanks around every token") {
  const auto* const text =
      GENERATE("minimax_m3.k1{index_heads=1,tokens=1}", "minimax_m3.k1{eps=1e-6,tokens=1}",
               " minimax_m3.k1 { tokens = 1 , kv_scale = per_token } ", "minimax_m3.k1\n{\ttokens=01}\n");
  CHECK(BuildKey::parse(text).text() == kOneToken);
}

TEST_CASE("A key printed and parsed again is the same key") {
  const BuildKey base = BuildKey::parse("minimax_m3.k1{tokens=2,page_stride=8,kv_scale=scalar_read}");
  for (const BuildKey& key : with_each_field_changed(base)) {
    INFO(key.text());
    CHECK(BuildKey::parse(key.text()) == key);
    CHECK(BuildKey::from_values(key.family(), values_by_name(key)) == key);
  }
}

TEST_CASE("A float field keeps its bits through the text") {
  const std::uint32_t bits = GENERATE(0x358637BDU, 0x00000001U, 0x00000000U, 0x3F800000U, 0x3DB504F3U);
  const BuildKey key = BuildKey::from_values(kK1, {{"tokens", 1}, {"eps", bits}});
  CHECK(BuildKey::parse(key.text()).value("eps") == bits);
}

TEST_CASE("Zero is one key, whatever its sign") {
  CHECK(BuildKey::parse("minimax_m3.k1{tokens=1,eps=-0}") == BuildKey::parse("minimax_m3.k1{tokens=1,eps=0}"));
}

TEST_CASE("The canonical bytes are each field's name, a zero and eight little-endian bytes") {
  CHECK(hex(BuildKey::parse("minimax_m3.k1{tokens=2,kv_scale=static_one}").bytes()) ==
        "746f6b656e73000200000000000000"              // tokens
        "696e6465785f6865616473000100000000000000"    // index_heads
        "696e6465785f6f776e000000000000000000"        // index_own
        "696e69745f626c6f636b73000000000000000000"    // init_blocks
        "6c6f63616c5f626c6f636b73000100000000000000"  // local_blocks
        "706167655f737472696465001000000000000000"    // page_stride
        "6b765f7363616c65000100000000000000"          // kv_scale
        "65707300bd37863500000000"                    // eps
        "736d5f7363616c6500f304b53d00000000"          // sm_scale
        "7369676e616c000000000000000000"              // signal
        "7361747572617465000100000000000000"          // saturate
        "706167655f626173653634000100000000000000"    // page_base64
        "7765696768745f6e74000000000000000000"        // weight_nt
        "74696d656c696e65000000000000000000"          // timeline
        "73636f726572000100000000000000"              // scorer
        "666c61675f647261696e000100000000000000"      // flag_drain
        "626f756e646564000100000000000000");          // bounded
}

TEST_CASE("Every field in turn changes text, bytes and symbol") {
  const BuildKey base = BuildKey::parse("minimax_m3.k1{tokens=1}");
  std::set<std::string> texts{base.text()};
  std::set<std::string> symbols{base.symbol()};
  std::set<std::string> bytes{hex(base.bytes())};
  const std::vector<BuildKey> changed = with_each_field_changed(base);
  for (const BuildKey& key : changed) {
    INFO(key.text());
    CHECK(texts.insert(key.text()).second);
    CHECK(symbols.insert(key.symbol()).second);
    CHECK(bytes.insert(hex(key.bytes())).second);
    CHECK_FALSE(key == base);
  }
  const auto fixed = std::ranges::count_if(
      kK1.fields, [](const Field& field) { return field.first == field.last && field.kind == FieldKind::kInteger; });
  CHECK(changed.size() == kK1.fields.size() - static_cast<std::size_t>(fixed));
}

TEST_CASE("A symbol is a C identifier: the family's stem and a digest that stays the same") {
  const std::string symbol = BuildKey::parse("minimax_m3.k1{tokens=1}").symbol();
  CHECK(symbol == "minimax_m3_k1_3ce9cac803f9c7ce");
}

TEST_CASE("The typed key holds the values of the fields") {
  const minimax_m3::K1Key key = minimax_m3::k1_key(
      BuildKey::parse("minimax_m3.k1{tokens=2,page_stride=8,kv_scale=scalar_read,eps=0.5,saturate=0,weight_nt=1}"));
  CHECK(key.tokens == 2);
  CHECK(key.page_stride == 8);
  CHECK(key.kv_scale == minimax_m3::KvScale::kScalarRead);
  CHECK(key.eps == 0.5F);
  CHECK_FALSE(key.saturate);
  CHECK(key.weight_nt);
  CHECK_FALSE(key.timeline);
}

TEST_CASE("A field left out has the value that the typed key has by itself") {
  const minimax_m3::K1Key parsed = minimax_m3::k1_key(BuildKey::parse("minimax_m3.k1{tokens=1}"));
  const minimax_m3::K1Key plain;
  CHECK(parsed.tokens == plain.tokens);
  CHECK(parsed.index_heads == plain.index_heads);
  CHECK(parsed.page_stride == plain.page_stride);
  CHECK(parsed.kv_scale == plain.kv_scale);
  CHECK(std::bit_cast<std::uint32_t>(parsed.eps) == std::bit_cast<std::uint32_t>(plain.eps));
  CHECK(parsed.saturate == plain.saturate);
  CHECK(parsed.page_base64 == plain.page_base64);
  CHECK(parsed.weight_nt == plain.weight_nt);
  CHECK(parsed.timeline == plain.timeline);
  CHECK(parsed.scorer == plain.scorer);
}

TEST_CASE("Families are listed by name, each with arguments and a digest of its generator") {
  CHECK(std::ranges::is_sorted(families(), {}, &Family::name));
  for (const Family* const family : families()) {
    CHECK(&kernels::family(family->name) == family);
    CHECK_FALSE(family->arguments.empty());
    CHECK(family->generator_digest.size() == 64);
  }
}

TEST_CASE("K1 is launched as one workgroup of 512 threads on each of 256 compute units, all resident") {
  const Launch launch = kK1.launch(BuildKey::parse("minimax_m3.k1{tokens=1}"));
  CHECK(launch.workgroups == 256);
  CHECK(launch.workgroup_size == 512);
  CHECK(launch.persistent);
}

TEST_CASE("A range is written as one reads it") {
  struct Key {
    int whole = 0;
    float real = 0;
  };
  const Choice choices[] = {{"a", 0}, {"b", 1}, {"c", 2}};
  CHECK(range_text(integer<&Key::whole>("x", "", 1, 16, 1).field) == "1..16");
  CHECK(range_text(required_integer<&Key::whole>("x", "", 3, 3).field) == "3");
  CHECK(range_text(choice<&Key::whole>("x", "", std::span(choices).first(2), 0).field) == "a or b");
  CHECK(range_text(choice<&Key::whole>("x", "", choices, 0).field) == "a, b or c");
  CHECK(range_text(float32<&Key::real>("x", "", 0.0F, 2.5F, 1.0F).field) == "0..2.5");
}

}  // namespace
}  // namespace monojit::kernels
