#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/emulate/buffer_spec.h"

/// A buffer after the launch: what is in it, and whether that is what was expected.
namespace monojit::tools {

struct Difference {
  std::uint64_t index = 0;  ///< in row-major order
  std::string value;
  std::string expected;
};

struct BufferResult {
  std::string name;
  std::string dtype;
  Shape shape;
  double least = 0, largest = 0;  ///< of the elements that are numbers
  std::uint64_t elements = 0;
  std::uint64_t nans = 0;
  std::string output;      ///< file that was written; empty: none
  bool bits_only = false;  ///< the file holds the bits of a type that NumPy lacks
  bool compared = false;
  std::string expect;
  std::uint64_t mismatches = 0;
  double max_error = 0;                 ///< largest distance of two numbers
  std::vector<Difference> differences;  ///< the first of the mismatches
};

/// Statistics of the elements.
BufferResult summarise(const BufferSpec& spec, const Array& after);

/// Reads the expected elements. Throws UserError when the file can't be used or has another shape.
Array read_expected(const BufferSpec& spec, const Array& like);

/// Compares, and fills what `result` says of it. Integers of one type are compared exactly; NaN equals NaN.
void compare(const BufferSpec& spec, const Array& after, const Array& expected, BufferResult& result);

}  // namespace monojit::tools
