#include <algorithm>
#include <optional>

#include <blake3.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/family.h"
#include "kernels/common/field_value.h"
#include "kernels/common/key_parser.h"

namespace monojit::kernels {
namespace {

constexpr std::size_t kSymbolDigestBytes = 8;

std::size_t field_index(const Family& family, std::string_view name) {
  const auto found = std::ranges::find(family.fields, name, &Field::name);
  if (found != family.fields.end()) return static_cast<std::size_t>(found - family.fields.begin());
  std::vector<std::string_view> names;
  for (const Field& field : family.fields) names.push_back(field.name);
  throw UserError(
      fmt::format("{}: unknown field '{}'; {}", family.name, name,
                  names.empty() ? "it has no fields" : fmt::format("fields are {}", fmt::join(names, ", "))));
}

/// The given values, and the defaults of the rest.
std::vector<std::int64_t> complete(const Family& family, const std::vector<std::optional<std::int64_t>>& given) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Field& field = family.fields[i];
    const std::optional<std::int64_t> value = given[i] ? given[i] : field.fallback;
    if (!value) {
      throw UserError(fmt::format("{}: field '{}' is missing: give {}={} ({})", family.name, field.name, field.name,
                                  range_text(field), field.meaning));
    }
    values.push_back(*value);
  }
  return values;
}

void append(std::vector<std::byte>& bytes, std::string_view text) {
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
}

void append_little_endian(std::vector<std::byte>& bytes, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<std::byte>(bits >> shift));
}

}  // namespace

BuildKey BuildKey::parse(std::string_view text) {
  const KeyText key = take_apart(text);
  const Family& family = kernels::family(key.family);
  std::vector<std::optional<std::int64_t>> given(family.fields.size());
  for (const auto& [name, value] : key.fields) {
    const std::size_t index = field_index(family, name);
    if (given[index]) throw UserError(fmt::format("{}: field '{}' is given twice", family.name, name));
    given[index] = parse_value(family.name, family.fields[index], value);
  }
  return {family, complete(family, given)};
}

BuildKey BuildKey::from_values(const Family& family, const std::map<std::string, std::int64_t, std::less<>>& values) {
  std::vector<std::optional<std::int64_t>> given(family.fields.size());
  for (const auto& [name, value] : values) {
    const std::size_t index = field_index(family, name);
    check_value(family.name, family.fields[index], value);
    given[index] = value;
  }
  return {family, complete(family, given)};
}

std::int64_t BuildKey::value(std::string_view field) const { return values_[field_index(*family_, field)]; }

std::string BuildKey::text() const {
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    fields.push_back(fmt::format("{}={}", family_->fields[i].name, value_text(i)));
  }
  return fmt::format("{}{{{}}}", family_->name, fmt::join(fields, ","));
}

std::vector<std::byte> BuildKey::bytes() const {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    append(bytes, family_->fields[i].name);
    bytes.push_back(std::byte{0});
    append_little_endian(bytes, values_[i]);
  }
  return bytes;
}

std::string BuildKey::symbol() const {
  const std::vector<std::byte> key = bytes();
  std::array<std::uint8_t, kSymbolDigestBytes> digest{};
  blake3_hasher hasher;
  blake3_hasher_init(&hasher);
  blake3_hasher_update(&hasher, key.data(), key.size());
  blake3_hasher_finalize(&hasher, digest.data(), digest.size());
  return fmt::format("{}_{:02x}", family_->symbol_stem, fmt::join(digest, ""));
}

std::string BuildKey::value_text(std::size_t index) const {
  return kernels::value_text(family_->fields[index], values_[index]);
}

void validate(const BuildKey& key, std::string_view arch) {
  std::vector<std::string> reasons;
  key.family().check(key, arch, reasons);
  if (reasons.empty()) return;
  throw UserError(
      fmt::format("{} can't be built for {}: {}", key.text(), arch.empty() ? "''" : arch, fmt::join(reasons, "; ")));
}

}  // namespace monojit::kernels
