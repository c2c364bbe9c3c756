#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/emulate/code_object.h"
#include "tools/report.h"

/// Scalars and structures of an argument file.
namespace monojit::tools {

/// Whether `json` says its own type: {"f32": 1.5}, {"i32": [1, 2]}, {"hex": "00ff"}.
bool is_typed_scalar(const Json& json);

/// The bytes of a typed scalar. Throws UserError beginning with `where`.
std::vector<std::byte> typed_scalar(const Json& json, const std::string& where);

/// The bytes of a plain number or truth value as an argument takes it: whole numbers are integers, others floats of the
/// argument's size, unless the code object names the argument's type. Throws UserError beginning with `where`.
std::vector<std::byte> plain_scalar(const Json& json, const KernelArgument& argument, const std::string& where);

}  // namespace monojit::tools
