#include "kernels/common/key_pattern.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/field_value.h"
#include "kernels/common/key_parser.h"

namespace monojit::kernels {
namespace {

/// The values of one field, without holding them: a field may take two thousand million.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct FieldValues {
  const Field* field = nullptr;
  std::vector<Range> ranges;

  std::uint64_t count() const {
    std::uint64_t total = 0;
    for (const Range& range : ranges) total += static_cast<std::uint64_t>(range.last - range.first) + 1;
    return total;
  }
};

const Field& find_field(const Family& family, std::string_view name) {
  // A key's own words for a field that is unknown, or given twice, are those of BuildKey::parse().
  const auto found = std::ranges::find(family.fields, name, &Field::name);
  if (found != family.fields.end()) return *found;
  (void)BuildKey::from_values(family, {{std::string(name), 0}});
  throw UserError(fmt::format("{}: unknown field '{}'", family.name, name));
}

void add_every_value(const Family& family, FieldValues& values) {
  switch (values.field->kind) {
    case FieldKind::kInteger:
      values.ranges.push_back({values.field->first, values.field->last});
      return;
    case FieldKind::kChoice:
      for (const Choice& choice : values.field->choices) values.ranges.push_back({choice.value, choice.value});
      return;
    case FieldKind::kFloat32:
      break;
  }
  throw UserError(fmt::format("{}: {}=* has no end: give the values of a field of {} one by one, as {}=A|B",
                              family.name, values.field->name, range_text(*values.field), values.field->name));
}

/// "a..b", both ends whole numbers that the field takes.
std::optional<Range> parse_range(const Family& family, const Field& field, std::string_view text) {
  const std::size_t dots = text.find("..");
  if (field.kind != FieldKind::kInteger || dots == std::string_view::npos) return std::nullopt;
  const Range range{parse_value(family.name, field, text.substr(0, dots)),
                    parse_value(family.name, field, text.substr(dots + 2))};
  if (range.last < range.first) {
    throw UserError(
        fmt::format("{}: {} = {} is no range: {} is above {}", family.name, field.name, text, range.first, range.last));
  }
  return range;
}

FieldValues read_values(const Family& family, std::string_view name, const std::vector<std::string_view>& words) {
  FieldValues values{.field = &find_field(family, name), .ranges = {}};
  for (const std::string_view word : words) {
    if (word == kEveryValue) {
      add_every_value(family, values);
    } else if (const auto range = parse_range(family, *values.field, word)) {
      values.ranges.push_back(*range);
    } else {
      const std::int64_t value = parse_value(family.name, *values.field, word);
      values.ranges.push_back({value, value});
    }
  }
  return values;
}

void check_count(std::string_view text, const std::vector<FieldValues>& fields, std::size_t most) {
  std::uint64_t keys = 1;
  for (const FieldValues& values : fields) {
    const std::uint64_t count = values.count();
    if (count <= most && keys * count <= most) {
      keys *= count;
      continue;
    }
    throw UserError(fmt::format("{} stands for more than {} keys ({} takes {} values in it): name fewer values", text,
                                most, values.field->name, count));
  }
}

using Values = std::map<std::string, std::int64_t, std::less<>>;

/// Sets the fields from `at` on in every way there is.
void expand(const Family& family, const std::vector<FieldValues>& fields, std::size_t at, Values& values,
            std::vector<BuildKey>& keys) {
  if (at == fields.size()) {
    BuildKey key = BuildKey::from_values(family, values);
    keys.push_back(std::move(key));
    return;
  }
  std::int64_t& value = values[std::string(fields[at].field->name)];
  for (const Range& range : fields[at].ranges) {
    for (value = range.first; value <= range.last; ++value) expand(family, fields, at + 1, values, keys);
  }
}

/// Keeps the first of equal keys.
void drop_repeats(std::vector<BuildKey>& keys) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto values = [&](std::size_t i) { return keys[i].values(); };
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::ranges::lexicographical_compare(values(a), values(b)); });
  std::vector<bool> repeated(keys.size(), false);
  for (std::size_t i = 1; i < order.size(); ++i) {
    repeated[order[i]] = std::ranges::equal(values(order[i - 1]), values(order[i]));
  }
  std::size_t at = 0;
  std::erase_if(keys, [&](const BuildKey&) { return repeated[at++]; });
}

}  // namespace

std::vector<BuildKey> expand_pattern(std::string_view text, std::size_t most) {
  const PatternText pattern = take_pattern_apart(text);
  const Family& family = kernels::family(pattern.family);
  std::vector<FieldValues> fields;
  for (const auto& [name, words] : pattern.fields) {
    fields.push_back(read_values(family, name, words));
    const auto same = [&](const FieldValues& values) { return values.field == fields.back().field; };
    if (std::ranges::count_if(fields, same) > 1) {
      throw UserError(fmt::format("{}: field '{}' is given twice", family.name, name));
    }
  }
  check_count(text, fields, most);
  std::vector<BuildKey> keys;
  Values values;
  expand(family, fields, 0, values, keys);
  drop_repeats(keys);
  return keys;
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("*|") != std::string_view::npos || text.find("..") != std::string_view::npos;
}

}  // namespace monojit::kernels
