#include "kernels/common/field_value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "kernels/common/family.h"

namespace monojit::kernels {
namespace {

[[noreturn]] void reject(std::string_view family, const Field& field, std::string_view shown) {
  switch (field.kind) {
    case FieldKind::kInteger:
      if (field.first == field.last) {
        throw UserError(
            fmt::format("{}: {} = {} is out of range: it can only be {}", family, field.name, shown, field.first));
      }
      throw UserError(fmt::format("{}: {} = {} is out of range {}", family, field.name, shown, range_text(field)));
    case FieldKind::kChoice:
      throw UserError(fmt::format("{}: {} = {} is not one of {}", family, field.name, shown, range_text(field)));
    case FieldKind::kFloat32:
      break;
  }
  throw UserError(fmt::format("{}: {} = {} is out of range {}", family, field.name, shown, range_text(field)));
}

bool is_f32_bits(std::int64_t value) { return value >= 0 && value <= std::numeric_limits<std::uint32_t>::max(); }

constexpr std::int64_t kMinusZero = 0x80000000;

float to_float(std::int64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

bool takes(const Field& field, std::int64_t value) {
  switch (field.kind) {
    case FieldKind::kInteger:
      return field.first <= value && value <= field.last;
    case FieldKind::kChoice:
      return std::ranges::find(field.choices, value, &Choice::value) != field.choices.end();
    case FieldKind::kFloat32:
      break;
  }
  if (!is_f32_bits(value) || value == kMinusZero) return false;
  return to_float(field.first) <= to_float(value) && to_float(value) <= to_float(field.last);
}

std::int64_t parse_integer(std::string_view family, const Field& field, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    throw UserError(
        fmt::format("{}: {} = '{}' is not a whole number; it takes {}", family, field.name, text, range_text(field)));
  }
  if (error == std::errc::result_out_of_range || !takes(field, value)) reject(family, field, text);
  return value;
}

std::int64_t parse_float(std::string_view family, const Field& field, std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    throw UserError(
        fmt::format("{}: {} = '{}' is not a number; it takes {}", family, field.name, text, range_text(field)));
  }
  const std::int64_t bits = std::bit_cast<std::uint32_t>(value + 0.0F);  // -0 and 0 are one key
  if (error == std::errc::result_out_of_range || !takes(field, bits)) reject(family, field, text);
  return bits;
}

std::string float_text(std::int64_t bits) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), to_float(bits));
  return {text.data(), end};
}

}  // namespace

std::string range_text(const Field& field) {
  if (field.kind == FieldKind::kFloat32) {
    return fmt::format("{}..{}", float_text(field.first), float_text(field.last));
  }
  if (field.kind == FieldKind::kInteger) {
    return field.first == field.last ? fmt::format("{}", field.first) : fmt::format("{}..{}", field.first, field.last);
  }
  std::string text;
  for (std::size_t i = 0; i < field.choices.size(); ++i) {
    if (i > 0) text += i + 1 == field.choices.size() ? " or " : ", ";
    text += field.choices[i].name;
  }
  return text;
}

void check_value(std::string_view family, const Field& field, std::int64_t value) {
  if (field.kind == FieldKind::kFloat32 && !is_f32_bits(value)) {
    throw UserError(fmt::format("{}: {} = {} is not the bit pattern of an f32", family, field.name, value));
  }
  if (!takes(field, value)) reject(family, field, value_text(field, value));
}

std::int64_t parse_value(std::string_view family, const Field& field, std::string_view text) {
  switch (field.kind) {
    case FieldKind::kInteger:
      return parse_integer(family, field, text);
    case FieldKind::kFloat32:
      return parse_float(family, field, text);
    case FieldKind::kChoice:
      break;
  }
  const auto found = std::ranges::find(field.choices, text, &Choice::name);
  if (found == field.choices.end()) reject(family, field, fmt::format("'{}'", text));
  return found->value;
}

std::string value_text(const Field& field, std::int64_t value) {
  if (field.kind == FieldKind::kFloat32) return float_text(value);
  if (field.kind == FieldKind::kChoice) {
    for (const Choice& choice : field.choices) {
      if (choice.value == value) return std::string(choice.name);
    }
  }
  return fmt::format("{}", value);
}

}  // namespace monojit::kernels
