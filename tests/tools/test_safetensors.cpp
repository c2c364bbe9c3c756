#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <unistd.h>

#include "kernels/common/error.h"
#include "tools/safetensors.h"
#include "tools/tensor_files.h"

namespace monojit::tools {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using kernels::DType;
using kernels::Tensor;

/// A file of this test alone, removed with it.
class TestFile {
 public:
  TestFile() = default;
  explicit TestFile(const std::string& content) { std::ofstream(path_, std::ios::binary) << content; }
  ~TestFile() { std::filesystem::remove(path_); }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("monojit_tensors_" + std::to_string(getpid()) + ".safetensors");
};

std::string file_text(const std::string& header, const std::string& data) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> 8 * i);
  return text + header + data;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("Tensors come back from a file as they were written") {
  const TestFile file;
  const std::vector<FileTensor> tensors = {{"a", "BF16", {2, 3}, bytes_of("twelve bytes")},
                                           {"in/empty", "I64", {0}, {}},
                                           {"scalar", "F32", {}, bytes_of("four")}};
  write_safetensors(file.path(), tensors);
  const std::vector<FileTensor> read = read_safetensors(file.path());
  REQUIRE(read.size() == tensors.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].name == tensors[i].name);
    CHECK(read[i].dtype == tensors[i].dtype);
    CHECK(read[i].shape == tensors[i].shape);
    CHECK(read[i].bytes == tensors[i].bytes);
  }
}

TEST_CASE("A file with metadata, as other writers make it, is read") {
  const TestFile file(
      file_text(R"({"__metadata__":{"format":"pt"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "bc"));
  const std::vector<FileTensor> read = read_safetensors(file.path());
  REQUIRE(read.size() == 1);
  CHECK(read[0].bytes == bytes_of("bc"));
}

struct Malformed {
  std::string content;
  std::string reason;
};

std::string one_tensor(const std::string& entry, const std::string& data) {
  return file_text(R"({"x":)" + entry + "}", data);
}

/// Bytes x and y at these places.
std::string two_tensors(int x_begin, int x_end, int y_begin, int y_end, const std::string& data) {
  const auto entry = [](const std::string& name, int begin, int end) {
    const std::string from = std::to_string(begin);
    const std::string to = std::to_string(end);
    return '"' + name + R"(":{"dtype":"U8","shape":[)" + std::to_string(end - begin) + R"(],"data_offsets":[)" + from +
           ',' + to + "]}";
  };
  return file_text('{' + entry("x", x_begin, x_end) + ',' + entry("y", y_begin, y_end) + '}', data);
}

TEST_CASE("A malformed file is refused with the reason") {
  const std::string huge_length = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}";
  const auto bad = GENERATE_REF(
      Malformed{"", "it has 0 bytes"}, Malformed{"short", "it has 5 bytes"},
      Malformed{huge_length, "its header claims"}, Malformed{file_text("{", ""), "no JSON object"},
      Malformed{file_text("[]", ""), "no JSON object"}, Malformed{one_tensor("3", ""), "tensor 'x' lacks dtype"},
      Malformed{one_tensor(R"({"dtype":"F32"})", ""), "tensor 'x' lacks"},
      Malformed{one_tensor(R"({"dtype":"F31","shape":[1],"data_offsets":[0,4]})", "four"), "the dtype 'F31'"},
      Malformed{one_tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", "four"),
                "has 4 bytes, its dtype F32 and shape [2] make 8"},
      Malformed{one_tensor(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", "four"), "no whole number: -1"},
      Malformed{one_tensor(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})", "four"), "no whole number: 1.5"},
      Malformed{one_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,5]})", "four"), "is it cut short?"},
      Malformed{one_tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", "four"), "lies at 4..0"},
      Malformed{one_tensor(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})", "four"),
                "larger than memory"},
      Malformed{one_tensor(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})", "four"),
                "larger than memory"},
      Malformed{two_tensors(0, 2, 1, 3, "abc"), "tensor 'y' begins at 1, but what lies before it ends at 2"},
      Malformed{two_tensors(2, 4, 0, 3, "abcd"), "tensor 'x' begins at 2, but what lies before it ends at 3"},
      Malformed{two_tensors(0, 2, 0, 2, "ab"), "tensors overlap"},
      Malformed{two_tensors(0, 1, 2, 3, "abc"), "tensor 'y' begins at 2, but what lies before it ends at 1"},
      Malformed{two_tensors(1, 2, 2, 3, "abc"), "tensor 'x' begins at 1, but what lies before it ends at 0"},
      Malformed{two_tensors(0, 1, 1, 2, "abc"), "nothing may follow tensor 'y'"},
      Malformed{file_text("{}", "a"), "holds 1 bytes of data"},
      Malformed{file_text(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                          R"("x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                          "a"),
                "member \"x\" is there twice"},
      Malformed{file_text(R"({"__metadata__":{"format":1}})", ""), "__metadata__ is no map of strings"},
      Malformed{file_text(R"({"__metadata__":"pt"})", ""), "__metadata__ is no map of strings"});
  const TestFile file(bad.content);
  CHECK_THROWS_MATCHES(read_safetensors(file.path()), UserError,
                       MessageMatches(ContainsSubstring(file.path().string()) && ContainsSubstring(bad.reason)));
}

TEST_CASE("Every cut of a good file is refused, and none reads beyond its end") {
  const TestFile whole;
  write_safetensors(whole.path(), {{"a", "I32", {2}, bytes_of("8 bytes.")}});
  const auto size = std::filesystem::file_size(whole.path());
  for (std::uintmax_t cut = 0; cut < size; ++cut) {
    std::filesystem::resize_file(whole.path(), cut);
    CHECK_THROWS_AS(read_safetensors(whole.path()), UserError);
    write_safetensors(whole.path(), {{"a", "I32", {2}, bytes_of("8 bytes.")}});
  }
}

TEST_CASE("A missing file, a folder and a folder that is not there are named") {
  CHECK_THROWS_MATCHES(
      read_safetensors("/nonexistent.safetensors"), UserError,
      MessageMatches(ContainsSubstring("/nonexistent.safetensors can't be used") && ContainsSubstring("No such file")));
  CHECK_THROWS_AS(read_safetensors("/"), UserError);
  CHECK_THROWS_MATCHES(write_safetensors("/nonexistent/x.safetensors", {}), UserError,
                       MessageMatches(ContainsSubstring("can't write /nonexistent/x.safetensors")));
}

std::vector<Tensor> some_arguments() {
  return {{"x", DType::kFp8, {4}, bytes_of("0000")}, {"n", DType::kInt32, {1}, bytes_of("0000")}};
}

TEST_CASE("Tensors of a file replace arguments of their names; FP8 may come as raw bytes, a number without a shape") {
  const TestFile file;
  write_safetensors(file.path(), {{"n", "I32", {}, bytes_of("nnnn")}, {"x", "U8", {4}, bytes_of("xxxx")}});
  std::vector<Tensor> tensors = some_arguments();
  replace_tensors(file.path(), "gfx950", tensors);
  CHECK(tensors[0].bytes == bytes_of("xxxx"));
  CHECK(tensors[0].dtype == DType::kFp8);
  CHECK(tensors[1].bytes == bytes_of("nnnn"));
  CHECK(tensors[1].shape == std::vector<std::int64_t>{1});
}

TEST_CASE("Metadata come back; a file that has none has an empty map") {
  const TestFile file;
  const FileMetadata metadata = {{"seed", "7"}, {"key", "a.b{\"c\"=1}"}};
  write_safetensors(file.path(), {{"x", "U8", {4}, bytes_of("xxxx")}}, metadata);
  CHECK(read_metadata(file.path()) == metadata);
  CHECK(read_safetensors(file.path()).at(0).bytes == bytes_of("xxxx"));
  write_safetensors(file.path(), {{"x", "U8", {4}, bytes_of("xxxx")}});
  CHECK(read_metadata(file.path()).empty());
}

TEST_CASE("Of a file that a run saved, the tensors before the launch are used") {
  const TestFile file;
  std::vector<Tensor> after = some_arguments();
  after[0].bytes = bytes_of("late");
  save_tensors(file.path(), "gfx950", some_arguments(), after);
  std::vector<Tensor> tensors = after;
  replace_tensors(file.path(), "gfx950", tensors);
  CHECK(tensors[0].bytes == some_arguments()[0].bytes);
}

TEST_CASE("A tensor of no argument, or of another dtype, is refused by name") {
  std::vector<Tensor> tensors = some_arguments();
  const TestFile file;
  write_safetensors(file.path(), {{"y", "I32", {1}, bytes_of("yyyy")}});
  CHECK_THROWS_MATCHES(replace_tensors(file.path(), "gfx950", tensors), UserError,
                       MessageMatches(ContainsSubstring("the kernel has no argument 'y'; arguments are x, n")));
  write_safetensors(file.path(), {{"n", "F32", {1}, bytes_of("nnnn")}});
  CHECK_THROWS_MATCHES(replace_tensors(file.path(), "gfx950", tensors), UserError,
                       MessageMatches(ContainsSubstring("tensor 'n' is F32, the kernel wants I32")));
  write_safetensors(file.path(), {{"x", "F8_E4M3", {4}, bytes_of("xxxx")}});
  CHECK_THROWS_MATCHES(replace_tensors(file.path(), "gfx942", tensors), UserError,
                       MessageMatches(ContainsSubstring("tensor 'x' is F8_E4M3, the kernel wants F8_E4M3FNUZ")));
}

}  // namespace
}  // namespace monojit::tools
