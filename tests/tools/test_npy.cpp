#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "tests/tools/scratch_file.h"
#include "tools/emulate/npy.h"

namespace monojit::tools {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

std::string file_text(int version, const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> 8 * i & 0xFF);
  return text + header + data;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("Arrays of every dtype and rank come back from a .npy file as they were written") {
  for (const Dtype& dtype : dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{1, 0, 4}, Shape{2, 1, 2, 2}}) {
      Array array{&dtype, shape, std::vector<std::byte>(element_count(shape, dtype.bytes, "test") * dtype.bytes)};
      for (std::size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = static_cast<std::byte>(i * 7 + 1);
      const ScratchFile file(".npy");
      write_npy(file.path(), array);
      CAPTURE(dtype.name, shape_text(shape));
      const Array read = read_npy(file.path());
      CHECK(read.shape == shape);
      CHECK(read.bytes == array.bytes);
      CHECK(read.dtype->npy == dtype.npy);
      // Elements begin at a multiple of 64 bytes.
      CHECK((std::filesystem::file_size(file.path()) - array.bytes.size()) % 64 == 0);
    }
  }
}

TEST_CASE("The three versions of the format are read") {
  const int version = GENERATE(1, 2, 3);
  const ScratchFile file(".npy",
                         file_text(version, "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n", "abcd"));
  const Array read = read_npy(file.path());
  CHECK(read.dtype->name == "u16");
  CHECK(read.shape == Shape{2});
  CHECK(read.bytes == bytes_of("abcd"));
}

TEST_CASE("Headers as other writers make them are read") {
  const std::string header = GENERATE(as<std::string>(), R"({"shape":(2,1),"fortran_order":False,"descr":"|u1"})",
                                      "{'fortran_order': False, 'descr': '|u1', 'shape': (2L, 1L)}   \n",
                                      "{ 'descr' : '|V1' , 'fortran_order' : False , 'shape' : ( 2 , 1 , ) }");
  const ScratchFile file(".npy", file_text(1, header, "xy"));
  const Array read = read_npy(file.path());
  CHECK(read.dtype->name == "u8");
  CHECK(read.shape == Shape{2, 1});
}

TEST_CASE("An array in Fortran order is turned into C order") {
  // Element [i][j][k] of a 2 x 3 x 4 array is 100 i + 10 j + k; in the file the first index runs fastest.
  std::string data;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data += static_cast<char>(100 * i + 10 * j + k);
    }
  }
  const ScratchFile file(".npy", file_text(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", data));
  const Array read = read_npy(file.path());
  std::size_t at = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) CHECK(static_cast<int>(read.bytes.at(at++)) == 100 * i + 10 * j + k);
    }
  }
}

struct Malformed {
  std::string content;
  std::string reason;
};

TEST_CASE("A malformed .npy file is refused with its name and what is wrong") {
  const auto with = [](const std::string& header, const std::string& data) { return file_text(1, header, data); };
  const Malformed malformed = GENERATE_COPY(
      Malformed{"", "cut short"}, Malformed{"\x93NUM", "cut short"},
      Malformed{"a text that is no array", "does not begin with"}, Malformed{file_text(4, "{}", ""), "version 4"},
      Malformed{std::string("\x93NUMPY\1\0\xff\xff{}", 12), "cut short"},
      Malformed{std::string("\x93NUMPY\2\0\xff\xff\xff\x7f{}", 14), "claims 2147483647 bytes"},
      Malformed{with("", ""), "no '{'"}, Malformed{with("{}", ""), "lacks descr"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False}", ""), "lacks descr, fortran_order or shape"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "abcd"), "goes on behind"},
      Malformed{with("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcd"), "twice"},
      Malformed{with("{'descr': '<f4', 'fortran_order': maybe, 'shape': (1,)}", "abcd"), "neither True nor False"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "abcd"), "no whole number"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (1", "abcd"), "no ')'"},
      Malformed{with("{'descr: '<f4'", "abcd"), "header has"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "abcd"), "holds 4 bytes of data"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcdefgh"), "make 4"},
      Malformed{with("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "abcd"), "big-endian"},
      Malformed{with("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh"), "dtype '<c8'"},
      Malformed{with("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "abcdefgh"), "dtype '|O'"},
      Malformed{with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"), "structures"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", ""),
                "larger than memory"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", ""),
                "larger than memory"},
      Malformed{with("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", "abcd"),
                "make 4000000000000"});
  const ScratchFile file(".npy", malformed.content);
  CAPTURE(malformed.reason);
  CHECK_THROWS_MATCHES(read_npy(file.path()), UserError,
                       MessageMatches(ContainsSubstring(file.path().string()) && ContainsSubstring(malformed.reason)));
}

TEST_CASE("What is no regular file is no .npy file") {
  CHECK_THROWS_MATCHES(read_npy("/nonexistent/a.npy"), UserError, MessageMatches(ContainsSubstring("no such file")));
  CHECK_THROWS_MATCHES(read_npy("/"), UserError, MessageMatches(ContainsSubstring("no regular file")));
  CHECK_THROWS_MATCHES(read_npy("/dev/zero"), UserError, MessageMatches(ContainsSubstring("no regular file")));
}

}  // namespace
}  // namespace monojit::tools
