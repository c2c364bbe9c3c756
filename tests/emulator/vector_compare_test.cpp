// Comparisons of vectors: every relation of every type, as v_cmp and as v_cmpx, and the number classes.
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/emulator/lane_cases.h"
#include "tests/emulator/lane_values.h"

namespace monojit::emulator::test {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

/// How two numbers relate.
enum class Order : std::uint8_t { kLess, kEqual, kGreater, kUnordered };

struct Relation {
  const char* name;
  bool less, equal, greater, unordered;
  [[nodiscard]] bool holds(Order order) const {
    const bool outcomes[] = {less, equal, greater, unordered};
    return outcomes[static_cast<int>(order)];
  }
};

constexpr Relation kIntegerRelations[] = {
    {"f", false, false, false, false}, {"lt", true, false, false, false}, {"eq", false, true, false, false},
    {"le", true, true, false, false},  {"gt", false, false, true, false}, {"ne", true, false, true, false},
    {"ge", false, true, true, false},  {"t", true, true, true, false},
};

constexpr Relation kFloatRelations[] = {
    {"f", false, false, false, false}, {"lt", true, false, false, false}, {"eq", false, true, false, false},
    {"le", true, true, false, false},  {"gt", false, false, true, false}, {"lg", true, false, true, false},
    {"ge", false, true, true, false},  {"o", true, true, true, false},    {"u", false, false, false, true},
    {"nge", true, false, false, true}, {"nlg", false, true, false, true}, {"ngt", true, true, false, true},
    {"nle", false, false, true, true}, {"neq", true, false, true, true},  {"nlt", false, true, true, true},
    {"tru", true, true, true, true},
};

template <class T>
Order order_of(T x, T y) {
  return x < y ? Order::kLess : x > y ? Order::kGreater : x == y ? Order::kEqual : Order::kUnordered;
}

using Orders = std::function<Order(const Lane&)>;

std::vector<LaneCase> comparisons(std::span<const Relation> relations, const std::string& type,
                                  const std::string& sources, const Orders& order) {
  std::vector<LaneCase> cases;
  for (const Relation& relation : relations) {
    const auto expected = [=](const Lane& l) { return relation.holds(order(l)) ? 1 : 0; };
    cases.push_back(
        {fmt::format("v_cmp_{}_{}_e64 s[22:23], {}", relation.name, type, sources), Match::kMask, expected});
    cases.push_back(
        {fmt::format("v_cmpx_{}_{}_e64 s[18:19], {}\n  s_mov_b64 s[22:23], exec", relation.name, type, sources),
         Match::kMask, expected});
  }
  return cases;
}

constexpr const char* kOneWord = "v2, v4";
constexpr const char* kTwoWords = "v[2:3], v[4:5]";

TEST_CASE("integers compare in every relation") {
  const auto check = [](const char* type, const char* sources, const Orders& order) {
    check_lane_cases(comparisons(kIntegerRelations, type, sources, order), Values::kIntegers);
  };
  check("i16", kOneWord, [](const Lane& l) { return order_of(field(l.a, 0, 16, true), field(l.b, 0, 16, true)); });
  check("u16", kOneWord, [](const Lane& l) { return order_of(field(l.a, 0, 16, false), field(l.b, 0, 16, false)); });
  check("i32", kOneWord, [](const Lane& l) { return order_of(s(l.a32()), s(l.b32())); });
  check("u32", kOneWord, [](const Lane& l) { return order_of(l.a32(), l.b32()); });
  check("i64", kTwoWords, [](const Lane& l) { return order_of(static_cast<int64_t>(l.a), static_cast<int64_t>(l.b)); });
  check("u64", kTwoWords, [](const Lane& l) { return order_of(l.a, l.b); });
}

TEST_CASE("floating-point numbers compare in every relation") {
  const auto check = [](const char* type, const char* sources, Values values, const Orders& order) {
    check_lane_cases(comparisons(kFloatRelations, type, sources, order), values);
  };
  check("f16", kOneWord, Values::kHalves, [](const Lane& l) { return order_of(h(l.a), h(l.b)); });
  check("f32", kOneWord, Values::kFloats, [](const Lane& l) { return order_of(f(l.a), f(l.b)); });
  check("f64", kTwoWords, Values::kDoubles, [](const Lane& l) { return order_of(d(l.a), d(l.b)); });
}

TEST_CASE("comparisons take modifiers, constants and scalar registers") {
  const LaneCase cases[] = {
      {"v_cmp_le_f32_e64 s[22:23], v2, -|v4|", Match::kMask,
       [](const Lane& l) { return f(l.a) <= -std::fabs(f(l.b)); }},
      {"v_cmp_nlt_f32_e64 s[22:23], v2, 1.0", Match::kMask, [](const Lane& l) { return !(f(l.a) < 1.0f); }},
      {"v_cmp_gt_i32_e64 s[22:23], s24, v4", Match::kMask, [](const Lane& l) { return s(l.d32()) > s(l.b32()); }},
      {"v_cmp_le_u64_e64 s[22:23], s[24:25], v[4:5]", Match::kMask, [](const Lane& l) { return l.d <= l.b; }},
      {"v_cmp_lt_u32 vcc, v2, v4\n s_mov_b64 s[22:23], vcc", Match::kMask,
       [](const Lane& l) { return l.a32() < l.b32(); }},
      {"v_cmpx_lt_u32 vcc, v2, v4\n s_mov_b64 s[22:23], vcc", Match::kMask,
       [](const Lane& l) { return l.a32() < l.b32(); }},
      {"v_cmpx_lt_u32 vcc, v2, v4\n s_mov_b64 s[22:23], exec", Match::kMask,
       [](const Lane& l) { return l.a32() < l.b32(); }},
      {"v_cmpx_gt_f32_sdwa s[22:23], v2, |v4| src0_sel:DWORD src1_sel:DWORD", Match::kMask,
       [](const Lane& l) { return f(l.a) > std::fabs(f(l.b)); }},
  };
  check_lane_cases(cases, Values::kFloats);
}

/// Bit of v_cmp_class for a number with these properties.
uint32_t class_bit(bool negative, bool zero, bool denormal, bool infinite, bool nan, bool quiet) {
  if (nan) return quiet ? 1 : 0;
  if (infinite) return negative ? 2 : 9;
  if (zero) return negative ? 5 : 6;
  if (denormal) return negative ? 4 : 7;
  return negative ? 3 : 8;
}

/// The class of a format with so many exponent and mantissa bits.
uint32_t class_of(uint64_t code, unsigned exponent_bits, unsigned mantissa_bits) {
  const uint64_t mantissa = code & ((uint64_t{1} << mantissa_bits) - 1);
  const uint64_t largest = (uint64_t{1} << exponent_bits) - 1, exponent = code >> mantissa_bits & largest;
  return class_bit((code >> (exponent_bits + mantissa_bits) & 1) != 0, exponent == 0 && mantissa == 0,
                   exponent == 0 && mantissa != 0, exponent == largest && mantissa == 0,
                   exponent == largest && mantissa != 0, (mantissa >> (mantissa_bits - 1) & 1) != 0);
}

TEST_CASE("every class of numbers is told from the others") {
  const auto check = [](const char* type, const char* source, unsigned exponent, unsigned mantissa, Values values) {
    std::vector<LaneCase> cases;
    for (uint32_t bit = 0; bit < 10; ++bit) {
      cases.push_back({fmt::format("v_cmp_class_{}_e64 s[22:23], {}, v12", type, source), Match::kMask,
                       [=](const Lane& l) { return class_of(l.a, exponent, mantissa) == bit ? 1 : 0; }});
      cases.back().text = fmt::format("v_mov_b32 v12, {:#x}\n  ", 1u << bit) + cases.back().text;
    }
    cases.push_back({fmt::format("v_cmpx_class_{}_e64 s[22:23], {}, v4", type, source), Match::kMask,
                     [=](const Lane& l) { return l.b32() >> class_of(l.a, exponent, mantissa) & 1; }});
    check_lane_cases(cases, values);
  };
  check("f16", "v2", 5, 10, Values::kHalves);
  check("f32", "v2", 8, 23, Values::kFloats);
  check("f64", "v[2:3]", 11, 52, Values::kDoubles);
}

}  // namespace
}  // namespace monojit::emulator::test
