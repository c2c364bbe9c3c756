#include "tools/emulate/expectation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "kernels/common/error.h"

namespace monojit::tools {
namespace {

constexpr std::size_t kMostDifferences = 5;

/// Whether `value` is close enough to `expected`.
bool close(double value, double expected, const Expectation& bounds) {
  if (std::isnan(expected)) return std::isnan(value);
  if (std::isinf(expected)) return value == expected;
  return std::fabs(value - expected) <= bounds.absolute + bounds.relative * std::fabs(expected);
}

}  // namespace

BufferResult summarise(const BufferSpec& spec, const Array& after) {
  BufferResult result;
  result.name = spec.name;
  result.dtype = after.dtype->name;
  result.shape = after.shape;
  result.elements = after.elements();
  bool any = false;
  for (std::uint64_t i = 0; i < result.elements; ++i) {
    const double value = after.dtype->value(after.at(i));
    if (std::isnan(value)) {
      ++result.nans;
      continue;
    }
    result.least = any ? std::min(result.least, value) : value;
    result.largest = any ? std::max(result.largest, value) : value;
    any = true;
  }
  return result;
}

Array read_expected(const BufferSpec& spec, const Array& like) {
  Array expected = read_elements(spec.expect->file, like);
  if (expected.shape != like.shape) {
    throw UserError(fmt::format("{}: the expected {} has the shape {}, not {}", spec.where, spec.expect->file.string(),
                                shape_text(expected.shape), shape_text(like.shape)));
  }
  return expected;
}

void compare(const BufferSpec& spec, const Array& after, const Array& expected, BufferResult& result) {
  result.compared = true;
  result.expect = spec.expect->file.string();
  const bool exact = after.dtype == expected.dtype && !after.dtype->is_float() && spec.expect->absolute == 0 &&
                     spec.expect->relative == 0;
  for (std::uint64_t i = 0; i < result.elements; ++i) {
    const double value = after.dtype->value(after.at(i));
    const double wanted = expected.dtype->value(expected.at(i));
    const double error = std::fabs(value - wanted);
    if (std::isfinite(error)) result.max_error = std::max(result.max_error, error);
    const bool equal =
        exact ? std::memcmp(after.at(i), expected.at(i), after.dtype->bytes) == 0 : close(value, wanted, *spec.expect);
    if (equal) continue;
    ++result.mismatches;
    if (result.differences.size() < kMostDifferences)
      result.differences.push_back({i, after.dtype->text(after.at(i)), expected.dtype->text(expected.at(i))});
  }
}

}  // namespace monojit::tools
