#include "tools/emulate/buffer_spec.h"

#include <utility>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/emulate/json_text.h"

namespace monojit::tools {
namespace {

using Kind = Generator::Kind;

struct GeneratorName {
  std::string_view name;
  Kind kind;
  const char* first;  ///< key; null: none
  double first_default;
  const char* second;
  double second_default;
};

constexpr GeneratorName kGenerators[] = {
    {"zeros", Kind::kZeros, nullptr, 0, nullptr, 0},       {"ones", Kind::kOnes, nullptr, 1, nullptr, 0},
    {"constant", Kind::kConstant, "value", 0, nullptr, 0}, {"arange", Kind::kArange, "start", 0, "step", 1},
    {"uniform", Kind::kUniform, "low", 0, "high", 1},      {"normal", Kind::kNormal, "mean", 0, "deviation", 1},
};

const GeneratorName& generator_name(const std::string& name, std::string_view where) {
  std::vector<std::string_view> names;
  for (const GeneratorName& each : kGenerators) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw UserError(
      fmt::format("{}: there is no generator '{}'{}; there are zeros, ones, constant, arange, uniform and "
                  "normal",
                  where, name, nearest_hint(name, names)));
}

/// A parameter of one kind of generator must not stand beside another kind.
void check_parameters(const Json& json, const GeneratorName& chosen, std::string_view where) {
  for (const char* key : {"value", "start", "step", "low", "high", "mean", "deviation"}) {
    const std::string_view name(key);
    const bool mine =
        (chosen.first != nullptr && name == chosen.first) || (chosen.second != nullptr && name == chosen.second);
    if (json.contains(key) && !mine)
      throw UserError(fmt::format("{}: \"{}\" is no parameter of the generator {}", where, key, chosen.name));
  }
  if (chosen.kind == Kind::kConstant && !json.contains("value"))
    throw UserError(fmt::format("{}: the generator constant needs \"value\"", where));
}

Generator parse_generator(const Json& json, std::string_view where, std::uint64_t seed) {
  const std::string name = text_member(json, "generate", where);
  const GeneratorName& chosen = generator_name(name, where);
  check_parameters(json, chosen, where);
  const auto parameter = [&](const char* key, double otherwise) {
    return key != nullptr && json.contains(key) ? number_member(json, key, where) : otherwise;
  };
  Generator generator{chosen.kind, seed, parameter(chosen.first, chosen.first_default),
                      parameter(chosen.second, chosen.second_default)};
  if (json.contains("seed")) generator.seed = unsigned_member(json, "seed", where);
  if (generator.kind == Kind::kUniform && generator.first > generator.second)
    throw UserError(fmt::format("{}: \"low\" is above \"high\"", where));
  return generator;
}

Shape parse_shape(const Json& json, std::string_view where) {
  const Json& value = json.at("shape");
  Shape shape;
  if (value.is_number_unsigned()) return {value.get<std::uint64_t>()};
  if (!value.is_array()) throw UserError(fmt::format("{}: \"shape\" has to be a list of numbers", where));
  for (const Json& extent : value) {
    if (!extent.is_number_unsigned())
      throw UserError(fmt::format("{}: \"shape\" has {}, which is no whole number from 0", where, extent.dump()));
    shape.push_back(extent.get<std::uint64_t>());
  }
  return shape;
}

Expectation parse_expectation(const Json& json, std::string_view where, const std::filesystem::path& folder) {
  Expectation expect{folder / text_member(json, "expect", where)};
  const auto bound = [&](const char* key) {
    if (!json.contains(key)) return 0.0;
    const double value = number_member(json, key, where);
    if (!(value >= 0)) throw UserError(fmt::format("{}: \"{}\" is negative", where, key));
    return value;
  };
  expect.absolute = bound("atol");
  expect.relative = bound("rtol");
  return expect;
}

/// Keys that go together, and those that don't.
void check_combination(const Json& json, const BufferSpec& spec) {
  const auto refuse = [&](std::string_view reason) { throw UserError(fmt::format("{}: {}", spec.where, reason)); };
  const int sources = (spec.npy.empty() ? 0 : 1) + (spec.raw.empty() ? 0 : 1) + (spec.generator ? 1 : 0);
  if (sources > 1) refuse("\"file\", \"raw\" and \"generate\" exclude each other");
  if (!spec.generator) {
    for (const char* key : {"seed", "value", "start", "step", "low", "high", "mean", "deviation"}) {
      if (json.contains(key)) refuse(fmt::format("\"{}\" goes with \"generate\"", key));
    }
  }
  if (!spec.expect && (json.contains("atol") || json.contains("rtol")))
    refuse("\"atol\" and \"rtol\" go with \"expect\"");
  if (spec.bytes && (spec.dtype != nullptr || spec.shape))
    refuse("\"bytes\" takes the place of \"dtype\" and \"shape\"");
  if (spec.bytes && !spec.npy.empty()) refuse("\"bytes\": the file has a size of its own");
  const bool sized = spec.bytes || (spec.dtype != nullptr && spec.shape);
  if (spec.npy.empty() && spec.raw.empty() && !sized) refuse("it needs \"dtype\" and \"shape\", or \"bytes\"");
  if (spec.shape && spec.dtype == nullptr && spec.npy.empty()) refuse("\"shape\" needs a \"dtype\"");
}

}  // namespace

BufferSpec parse_buffer(const Json& json, std::string where, const std::filesystem::path& folder, std::uint64_t seed) {
  check_keys(json,
             {"file", "raw", "generate", "dtype", "shape", "bytes", "seed", "value", "start", "step", "low", "high",
              "mean", "deviation", "output", "expect", "atol", "rtol"},
             where);
  BufferSpec spec;
  spec.where = std::move(where);
  if (json.contains("file")) spec.npy = folder / text_member(json, "file", spec.where);
  if (json.contains("raw")) spec.raw = folder / text_member(json, "raw", spec.where);
  if (json.contains("generate")) spec.generator = parse_generator(json, spec.where, seed);
  if (json.contains("dtype")) spec.dtype = &dtype(text_member(json, "dtype", spec.where), spec.where);
  if (json.contains("shape")) spec.shape = parse_shape(json, spec.where);
  if (json.contains("bytes")) spec.bytes = unsigned_member(json, "bytes", spec.where);
  if (json.contains("output")) spec.output = folder / text_member(json, "output", spec.where);
  if (json.contains("expect")) spec.expect = parse_expectation(json, spec.where, folder);
  check_combination(json, spec);
  return spec;
}

}  // namespace monojit::tools
