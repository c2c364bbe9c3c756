#include "runtime/strict_json.h"

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monojit::runtime {
namespace {

using nlohmann::json;

/// Hears of a JSON text part by part, so that nothing is built of what is refused. A method that returns false ends it.
class StrictReader : public nlohmann::json_sax<json> {
 public:
  explicit StrictReader(std::size_t max_depth) : max_depth_(max_depth) {}
  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(json::number_integer_t /*value*/) override { return true; }
  bool number_unsigned(json::number_unsigned_t /*value*/) override { return true; }
  bool string(json::string_t& value) override { return check_no_nul(value); }
  bool binary(json::binary_t& /*value*/) override { return true; }

  bool number_float(json::number_float_t value, const json::string_t& text) override {
    const std::string_view digits = std::string_view(text).substr(0, text.find_first_of("eE"));
    if (value != 0 || digits.find_first_of("123456789") == std::string_view::npos) return true;
    return refuse(fmt::format("the number {} is too small: it would be 0", text));
  }

  bool start_object(std::size_t /*size*/) override { return open(); }
  bool start_array(std::size_t /*size*/) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(json::string_t& name) override {
    if (!check_no_nul(name)) return false;
    if (open_.back().insert(name).second) return true;
    return refuse(fmt::format("member \"{}\" is there twice", name));
  }

  /// Text that is no JSON is for the parser to tell of.
  bool parse_error(std::size_t /*position*/, const std::string& token, const json::exception& error) override {
    constexpr int kNumberOverflow = 406;
    return error.id == kNumberOverflow && refuse(fmt::format("the number {} is too large", token));
  }

 private:
  bool open() {
    open_.emplace_back();
    return open_.size() <= max_depth_ || refuse(fmt::format("lists and objects are more than {} deep", max_depth_));
  }

  bool check_no_nul(std::string_view text) {
    const std::size_t nul = text.find('\0');
    return nul == std::string_view::npos || refuse(fmt::format("a NUL follows \"{}\" in a text", text.substr(0, nul)));
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  std::size_t max_depth_;
  std::vector<std::set<std::string, std::less<>>> open_;  ///< members so far of each object or list that is not closed
  std::string problem_;
};

}  // namespace

std::string json_problem(std::string_view text, std::size_t max_depth) {
  StrictReader reader(max_depth);
  (void)json::sax_parse(text, &reader);
  return reader.problem();
}

}  // namespace monojit::runtime
