#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace monojit::runtime {

/// What is wrong, for a user: without the library's "[json.exception.type_error.304] " in front.
inline std::string json_words(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

}  // namespace monojit::runtime
