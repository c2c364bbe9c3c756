#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/family.h"

namespace monojit::kernels {

/// A model that families of this build serve.
struct Model {
  std::string_view name;     ///< "minimax_m3"
  std::string_view summary;  ///< one line
  /// Patterns of all kernels that an engine may ask for while it serves the model (kernels/common/key_pattern.h).
  /// Combinations that no chip can build are among them.
  std::span<const std::string_view> patterns;
};

/// In the order of their names.
std::span<const Model> models();
/// Throws UserError, naming the models there are, when `name` is none of them.
const Model& model(std::string_view name);

}  // namespace monojit::kernels
