#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/common/error.h"
#include "tools/emulate/arguments.h"
#include "tools/emulate/json_text.h"

namespace monojit::tools {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// f(float a, float* x, int n, double d), as a compiler that keeps the names of types describes it.
KernelInfo typed_kernel() {
  KernelInfo kernel;
  kernel.name = "f";
  kernel.arguments = {{"a", "by_value", "float", 4, 0},
                      {"x", "global_buffer", "float*", 8, 8},
                      {"n", "by_value", "int", 4, 16},
                      {"d", "by_value", "double", 8, 24}};
  return kernel;
}

KernelInfo kernel_of(std::vector<KernelArgument> arguments) {
  KernelInfo kernel;
  kernel.name = "f";
  kernel.arguments = std::move(arguments);
  return kernel;
}

ArgumentFile parse(const std::string& text, const KernelInfo& kernel) {
  return parse_arguments(parse_json(text, "args.json"), kernel, "args.json", "/data");
}

std::vector<std::byte> pack(const std::string& text, const KernelInfo& kernel,
                            const std::vector<std::uint64_t>& addresses = {}) {
  std::uint32_t lds = 0;
  return pack_arguments(parse(text, kernel), addresses, 0, lds);
}

template <class T>
T at(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST_CASE("Plain numbers take the type that the code object names, pointers the buffer's address and the offset") {
  const std::string text = GENERATE(
      as<std::string>(),
      R"({"buffers": {"b": {"dtype": "f32", "shape": [4]}}, "arguments": [2, {"buffer": "b", "offset": 8}, -3, 1]})",
      R"({"buffers": {"b": {"dtype": "f32", "shape": [4]}},
          "arguments": {"n": -3, "d": 1, "x": {"buffer": "b", "offset": 8}, "a": 2}})");
  const auto packed = pack(text, typed_kernel(), {0x1000});
  REQUIRE(packed.size() == 32);
  CHECK(at<float>(packed, 0) == 2.0F);
  CHECK(at<std::uint64_t>(packed, 8) == 0x1008);
  CHECK(at<std::int32_t>(packed, 16) == -3);
  CHECK(at<double>(packed, 24) == 1.0);
}

TEST_CASE("Where the code object names no types, whole numbers are integers and others floats of the argument's size") {
  const KernelInfo kernel = kernel_of({{"", "by_value", "", 4, 0},
                                       {"", "by_value", "", 4, 4},
                                       {"", "by_value", "", 8, 8},
                                       {"", "by_value", "", 8, 16},
                                       {"", "by_value", "", 1, 24},
                                       {"", "by_value", "", 2, 26}});
  const auto packed = pack("[7, 7.0, -1, 0.5, true, 65535]", kernel);
  CHECK(at<std::uint32_t>(packed, 0) == 7);
  CHECK(at<float>(packed, 4) == 7.0F);
  CHECK(at<std::int64_t>(packed, 8) == -1);
  CHECK(at<double>(packed, 16) == 0.5);
  CHECK(at<std::uint8_t>(packed, 24) == 1);
  CHECK(at<std::uint16_t>(packed, 26) == 65535);
}

TEST_CASE("Typed values, vectors, bare bytes and null are taken as they are") {
  const KernelInfo kernel = kernel_of({{"", "by_value", "", 2, 0},
                                       {"", "by_value", "", 2, 2},
                                       {"", "by_value", "", 8, 8},
                                       {"", "by_value", "", 3, 16},
                                       {"", "global_buffer", "", 8, 24},
                                       {"", "by_value", "", 8, 32}});
  const auto packed =
      pack(R"([{"bf16": 1.0}, {"f16": 1.0}, {"i32": [1, -2]}, {"hex": "0a0B0c"}, null, {"u64": 18446744073709551615}])",
           kernel);
  CHECK(at<std::uint16_t>(packed, 0) == 0x3F80);
  CHECK(at<std::uint16_t>(packed, 2) == 0x3C00);
  CHECK(at<std::int32_t>(packed, 8) == 1);
  CHECK(at<std::int32_t>(packed, 12) == -2);
  CHECK(at<std::uint8_t>(packed, 17) == 0x0B);
  CHECK(at<std::uint64_t>(packed, 24) == 0);
  CHECK(at<std::uint64_t>(packed, 32) == ~std::uint64_t{0});
}

TEST_CASE("A buffer that is named twice is one buffer, one that is described twice is two") {
  const KernelInfo kernel = kernel_of({{"a", "global_buffer", "", 8, 0}, {"b", "global_buffer", "", 8, 8}});
  const ArgumentFile shared =
      parse(R"({"buffers": {"x": {"bytes": 16}}, "arguments": [{"buffer": "x"}, {"buffer": "x"}]})", kernel);
  REQUIRE(shared.buffers.size() == 1);
  CHECK(shared.values[0].buffer == shared.values[1].buffer);
  const ArgumentFile apart = parse(R"([{"bytes": 16}, {"bytes": 16}])", kernel);
  CHECK(apart.buffers.size() == 2);
}

TEST_CASE("Paths start from the folder of the argument file") {
  const ArgumentFile file =
      parse(R"([{"file": "x.npy", "output": "/other/y.npy"}])", kernel_of({{"x", "global_buffer", "", 8, 0}}));
  CHECK(file.buffers[0].npy == "/data/x.npy");
  CHECK(file.buffers[0].output == "/other/y.npy");
}

TEST_CASE("Pointers to LDS lie behind the kernel's own, one behind the other") {
  const KernelInfo kernel =
      kernel_of({{"p", "dynamic_shared_pointer", "", 4, 0}, {"q", "dynamic_shared_pointer", "", 4, 4}});
  const ArgumentFile file = parse(R"([{"local": 100}, {"local": 64}])", kernel);
  std::uint32_t lds = 0;
  const auto packed = pack_arguments(file, {}, 40, lds);
  CHECK(at<std::uint32_t>(packed, 0) == 48);
  CHECK(at<std::uint32_t>(packed, 4) == 160);
  CHECK(lds == 160 + 64 - 40);
}

TEST_CASE("Where the code object says nothing, types of the file give the places") {
  KernelInfo kernel;
  kernel.name = "f";
  kernel.described = false;
  kernel.kernarg_bytes = 24;
  const auto packed = pack(R"([{"i32": 5}, {"bytes": 4}, {"u8": 1}, {"u16": 2}])", kernel, {0x2000});
  CHECK(at<std::int32_t>(packed, 0) == 5);
  CHECK(at<std::uint64_t>(packed, 8) == 0x2000);
  CHECK(at<std::uint16_t>(packed, 18) == 2);
  CHECK_THROWS_MATCHES(pack(R"([{"i32": 5}])", kernel), UserError,
                       MessageMatches(ContainsSubstring("have 4 bytes, where the kernel takes 24")));
  CHECK_THROWS_MATCHES(pack("[5]", kernel), UserError, MessageMatches(ContainsSubstring("needs a type")));
}

struct Wrong {
  std::string text;
  std::string message;
};

TEST_CASE("An argument file that is wrong is refused with the place and the reason") {
  const Wrong wrong = GENERATE(
      Wrong{"", "is no JSON"}, Wrong{"[1, 2", "line 1"}, Wrong{"[1e400]", "the number 1e400 is too large"},
      Wrong{"[1e-400]", "the number 1e-400 is too small"}, Wrong{"5", "has to be a list"},
      Wrong{R"({"arguments": [], "arguments": []})", R"(member "arguments" is there twice)"},
      Wrong{R"({"argumets": []})", "unknown key 'argumets', did you mean 'arguments'?"},
      Wrong{R"({"buffers": [], "arguments": []})", "\"buffers\" has to be an object"},
      Wrong{"[1]", "1 argument, where the kernel takes 4"}, Wrong{"{}", "0 arguments, where the kernel takes 4"},
      Wrong{R"({"arguments": {"a": 1}})", "argument 'x' is missing"},
      Wrong{R"({"arguments": {"a": 1, "y": null}})", "the kernel has no argument 'y'"},
      Wrong{R"([1, 5, 1, 1])", "x is a pointer, not a number: 5"}, Wrong{R"([1, null, 1.5, 1])", "i32 can't hold 1.5"},
      Wrong{R"([1, null, 3000000000, 1])", "i32 can't hold 3000000000"},
      Wrong{R"([1e300, null, 1, 1])", "f32 can't hold 1e+300"},
      Wrong{R"([{"f64": 1}, null, 1, 1])", "argument 0 has 8 bytes, where the kernel takes 4"},
      Wrong{R"([1, {"hex": "00"}, 1, 1])", "argument 1 has 1 bytes, where the kernel takes 8"},
      Wrong{R"([1, {"hex": "0"}, 1, 1])", "no two hexadecimal digits"},
      Wrong{R"([1, {"hex": "zz"}, 1, 1])", "no two hexadecimal digits"},
      Wrong{R"(["1", null, 1, 1])", "neither a number"},
      Wrong{R"([1, {"buffer": "b"}, 1, 1])", "there is no buffer 'b'"},
      Wrong{R"([1, {"buffer": "b", "ofset": 1}, 1, 1])", "did you mean 'offset'?"},
      Wrong{R"([1, {"flie": "x.npy"}, 1, 1])", "unknown key 'flie', did you mean 'file'?"},
      Wrong{R"([1, {"generate": "unifrom", "dtype": "f32", "shape": [1]}, 1, 1])", "did you mean 'uniform'?"},
      Wrong{R"([1, {"generate": "ones", "dtype": "f23", "shape": [1]}, 1, 1])", "there is no dtype 'f23'"},
      Wrong{R"([1, {"generate": "ones", "dtype": "f32", "shape": [-1]}, 1, 1])", "no whole number"},
      Wrong{R"([1, {"generate": "ones", "dtype": "f32", "shape": [1], "mean": 1}, 1, 1])",
            "no parameter of the generator ones"},
      Wrong{R"([1, {"generate": "constant", "dtype": "f32", "shape": [1]}, 1, 1])", "needs \"value\""},
      Wrong{R"([1, {"generate": "uniform", "low": 2, "high": 1, "dtype": "f32", "shape": [1]}, 1, 1])",
            "\"low\" is above"},
      Wrong{R"([1, {"generate": "ones", "dtype": "f32"}, 1, 1])", "needs \"dtype\" and \"shape\""},
      Wrong{R"([1, {"file": "x.npy", "raw": "x.bin"}, 1, 1])", "exclude each other"},
      Wrong{R"([1, {"file": "x.npy", "seed": 1}, 1, 1])", "goes with \"generate\""},
      Wrong{R"([1, {"file": "x.npy", "atol": 1}, 1, 1])", "go with \"expect\""},
      Wrong{R"([1, {"file": "x.npy", "expect": "y.npy", "atol": -1}, 1, 1])", "is negative"},
      Wrong{R"([1, {"file": "x.npy", "output": ""}, 1, 1])", "\"output\" has to be a text"},
      Wrong{R"([1, {"bytes": 4, "dtype": "f32"}, 1, 1])", "takes the place"},
      Wrong{R"({"buffers": {"b": {"bytes": 4}}, "arguments": [1, null, 1, 1]})", "buffer 'b' is given to no argument"});
  CAPTURE(wrong.text);
  CHECK_THROWS_MATCHES(parse(wrong.text, typed_kernel()), UserError,
                       MessageMatches(ContainsSubstring("args.json") && ContainsSubstring(wrong.message)));
}

TEST_CASE("A file that does not fit the kernel is answered with the kernel's arguments") {
  CHECK_THROWS_MATCHES(parse("[1]", typed_kernel()), UserError,
                       MessageMatches(ContainsSubstring("arguments of f:") && ContainsSubstring("global_buffer") &&
                                      ContainsSubstring("double")));
}

BufferSpec buffer(const std::string& text) { return parse_buffer(Json::parse(text), "buffer", "/data", 5); }

constexpr std::uint64_t kMost = 1 << 20;

TEST_CASE("Generators make what they are named after, the same for one seed and different for another") {
  const auto values = [](const std::string& text) {
    const Array array = load_buffer(buffer(text), kMost);
    std::vector<double> numbers;
    for (std::uint64_t i = 0; i < array.elements(); ++i) numbers.push_back(array.dtype->value(array.at(i)));
    return numbers;
  };
  CHECK(values(R"({"generate": "arange", "start": 3, "step": -2, "dtype": "i16", "shape": [2, 2]})") ==
        std::vector<double>{3, 1, -1, -3});
  CHECK(values(R"({"generate": "constant", "value": 2.5, "dtype": "bf16", "shape": [2]})") ==
        std::vector<double>{2.5, 2.5});
  CHECK(values(R"({"generate": "ones", "dtype": "fp8_e4m3", "shape": 3})") == std::vector<double>{1, 1, 1});
  CHECK(values(R"({"bytes": 3})") == std::vector<double>{0, 0, 0});
  const std::string uniform = R"({"generate": "uniform", "low": -2, "high": 3, "dtype": "f32", "shape": [1000])";
  const auto first = values(uniform + R"(, "seed": 1})");
  CHECK(values(uniform + R"(, "seed": 1})") == first);
  CHECK(values(uniform + R"(, "seed": 2})") != first);
  CHECK(values(uniform + R"(, "seed": 5})") == values(uniform + "}"));
  CHECK(std::ranges::all_of(first, [](double value) { return value >= -2 && value < 3; }));
  const auto integers = values(R"({"generate": "uniform", "low": 0, "high": 4, "dtype": "u8", "shape": [1000]})");
  for (const double wanted : {0, 1, 2, 3}) CHECK(std::ranges::find(integers, wanted) != integers.end());
  CHECK(std::ranges::find(integers, 4.0) == integers.end());
  // A thousand numbers of deviation 2: their mean's own deviation is 0.063, so 0.3 is nearly five of it.
  const auto normal = values(R"({"generate": "normal", "mean": 10, "deviation": 2, "dtype": "f64", "shape": [1000]})");
  double sum = 0;
  for (const double value : normal) sum += value;
  CHECK(std::abs(sum / 1000 - 10) < 0.3);
}

TEST_CASE("Buffers that are too large, or numbers that don't fit, are refused") {
  const auto load = [](const std::string& text) { return load_buffer(buffer(text), kMost); };
  CHECK_THROWS_MATCHES(load(R"({"dtype": "f32", "shape": [1000000000000]})"), UserError,
                       MessageMatches(ContainsSubstring("where the device has")));
  CHECK_THROWS_MATCHES(load(R"({"dtype": "f32", "shape": [4294967296, 4294967296]})"), UserError,
                       MessageMatches(ContainsSubstring("larger than memory")));
  CHECK_THROWS_MATCHES(load(R"({"generate": "arange", "dtype": "u8", "shape": [257]})"), UserError,
                       MessageMatches(ContainsSubstring("u8 can't hold the generated 256")));
  CHECK_THROWS_MATCHES(load(R"({"file": "nothing.npy"})"), UserError,
                       MessageMatches(ContainsSubstring("/data/nothing.npy")));
}

}  // namespace
}  // namespace monojit::tools
