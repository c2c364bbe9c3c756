#include "runtime/argument_values.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monojit::runtime {

ArgumentValues::ArgumentValues(const kernels::Family& family)
    : family_(&family), values_(family.arguments.size(), ArgumentValue(nullptr)), given_(family.arguments.size()) {}

bool ArgumentValues::takes(std::string_view name) const {
  return std::ranges::find(family_->arguments, name, &kernels::Argument::name) != family_->arguments.end();
}

ArgumentValues& ArgumentValues::set(std::string_view name, ArgumentValue value) {
  const auto found = std::ranges::find(family_->arguments, name, &kernels::Argument::name);
  if (found == family_->arguments.end()) throw UserError(fmt::format("{} has no argument '{}'", family_->name, name));
  const auto index = static_cast<std::size_t>(found - family_->arguments.begin());
  values_[index] = value;
  given_[index] = true;
  return *this;
}

const std::vector<ArgumentValue>& ArgumentValues::values() const {
  std::vector<std::string_view> missing;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (!given_[i]) missing.push_back(family_->arguments[i].name);
  }
  if (!missing.empty()) throw UserError(fmt::format("{} lacks arguments {}", family_->name, fmt::join(missing, ", ")));
  return values_;
}

}  // namespace monojit::runtime
