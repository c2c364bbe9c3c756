#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tools/emulate/dtype.h"
#include "tools/report.h"

/// Buffers of device memory as an argument file describes them.
namespace monojit::tools {

/// Numbers made from a seed, the same on every machine.
struct Generator {
  enum class Kind : std::uint8_t { kZeros, kOnes, kConstant, kArange, kUniform, kNormal };

  Kind kind = Kind::kZeros;
  std::uint64_t seed = 0;
  double first = 0;   ///< kConstant: the value; kArange: the start; kUniform: the low end; kNormal: the mean
  double second = 1;  ///< kArange: the step; kUniform: the high end, not reached; kNormal: the deviation
};

struct Expectation {
  std::filesystem::path file;
  double absolute = 0;  ///< |result - expected| may be absolute + relative * |expected|
  double relative = 0;
};

struct BufferSpec {
  std::string where;  ///< for messages: "args.json: buffer 'x'"
  std::string name;   ///< of the result's table
  std::filesystem::path npy;
  std::filesystem::path raw;
  std::optional<Generator> generator;
  const Dtype* dtype = nullptr;  ///< null: the file's
  std::optional<Shape> shape;
  std::optional<std::uint64_t> bytes;  ///< size of a buffer without dtype and shape
  std::filesystem::path output;
  std::optional<Expectation> expect;

  [[nodiscard]] bool filled() const { return !npy.empty() || !raw.empty() || generator.has_value(); }
  [[nodiscard]] bool has_result() const { return !output.empty() || expect.has_value(); }
};

/// Reads the JSON object of a buffer. `folder` is what relative paths start from, `seed` the default of generators.
/// Throws UserError saying where for keys that are unknown, missing, or do not go together.
BufferSpec parse_buffer(const Json& json, std::string where, const std::filesystem::path& folder, std::uint64_t seed);

/// What the buffer holds before the launch: read, converted or generated; zeros where nothing fills it. Throws
/// UserError, also when it has more than `most_bytes`.
Array load_buffer(const BufferSpec& spec, std::uint64_t most_bytes);

/// The elements of a file that ends in .npy, or of any other as `like` has them. Bits of a type that NumPy lacks become
/// that type when `like` has it.
Array read_elements(const std::filesystem::path& file, const Array& like);

/// Writes .npy, or the bare bytes when the name ends otherwise.
void write_elements(const std::filesystem::path& file, const Array& array);

}  // namespace monojit::tools
