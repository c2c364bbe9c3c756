#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/common/field.h"

/// Values of one field, as numbers and as text. `family` is the kernel that a message names.
namespace monojit::kernels {

/// Throws UserError, naming family, field and range, when the field does not take `value`.
void check_value(std::string_view family, const Field& field, std::int64_t value);

/// Reads a value as value_text() writes it, or any other decimal of the same number. Throws UserError as check_value()
/// does.
std::int64_t parse_value(std::string_view family, const Field& field, std::string_view text);

/// A number, a choice's name, or the shortest decimal that reads back as the same f32.
std::string value_text(const Field& field, std::int64_t value);

}  // namespace monojit::kernels
