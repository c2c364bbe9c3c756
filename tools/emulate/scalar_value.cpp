#include "tools/emulate/scalar_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/emulate/dtype.h"

namespace monojit::tools {
namespace {

constexpr std::string_view kHex = "hex";

const Dtype* named_dtype(std::string_view name) {
  const auto found = std::ranges::find(dtypes(), name, &Dtype::name);
  return found != dtypes().end() ? &*found : nullptr;
}

void append(const Json& value, const Dtype& dtype, const std::string& where, std::vector<std::byte>& to) {
  const auto refuse = [&] { throw UserError(fmt::format("{}: {} can't hold {}", where, dtype.name, value.dump())); };
  to.resize(to.size() + dtype.bytes);
  std::byte* const place = to.data() + to.size() - dtype.bytes;
  if (value.is_boolean()) {
    dtype.store(value.get<bool>() ? 1 : 0, place);
  } else if (dtype.is_float()) {
    if (!value.is_number()) refuse();
    dtype.store(value.get<double>(), place);
    if (!std::isfinite(dtype.value(place))) refuse();
  } else if (value.is_number_unsigned() && dtype.bytes == 8) {  // beyond what a double holds
    const auto bits = value.get<std::uint64_t>();
    if (dtype.kind == ElementKind::kSigned && bits >> 63 != 0) refuse();
    dtype.store_bits(bits, place);
  } else if (value.is_number_integer() && dtype.bytes == 8) {
    if (dtype.kind != ElementKind::kSigned) refuse();
    dtype.store_bits(static_cast<std::uint64_t>(value.get<std::int64_t>()), place);
  } else {
    if (!value.is_number_integer() || !dtype.holds(value.get<double>())) refuse();
    dtype.store(value.get<double>(), place);
  }
}

std::vector<std::byte> hex_bytes(const Json& value, const std::string& where) {
  if (!value.is_string()) throw UserError(where + ": \"hex\" has to be a text");
  std::vector<std::byte> bytes;
  const std::string& text = value.get_ref<const std::string&>();
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned byte = 0;
    const char* const end = text.data() + std::min(i + 2, text.size());
    const auto [read, error] = std::from_chars(text.data() + i, end, byte, 16);
    if (error != std::errc() || read != text.data() + i + 2)
      throw UserError(
          fmt::format("{}: \"hex\" has '{}', which are no two hexadecimal digits", where, text.substr(i, 2)));
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return bytes;
}

/// What OpenCL calls a type of one number, or null.
const Dtype* declared_dtype(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"char", "i8"},  {"uchar", "u8"},  {"short", "i16"}, {"ushort", "u16"}, {"int", "i32"},   {"uint", "u32"},
      {"long", "i64"}, {"ulong", "u64"}, {"half", "f16"},  {"float", "f32"},  {"double", "f64"}};
  for (const auto& [name, dtype] : kTypes) {
    if (name == type) return named_dtype(dtype);
  }
  return nullptr;
}

/// The type of a plain number in an argument of `bytes` bytes; null if there is none.
const Dtype* guessed_dtype(const Json& json, std::uint32_t bytes) {
  const bool is_float = json.is_number_float();
  const bool is_negative = json.is_number_integer() && !json.is_number_unsigned();
  switch (bytes) {
    case 1:
      return is_float ? nullptr : named_dtype(is_negative ? "i8" : "u8");
    case 2:
      return is_float ? nullptr : named_dtype(is_negative ? "i16" : "u16");
    case 4:
      return named_dtype(is_float ? "f32" : is_negative ? "i32" : "u32");
    case 8:
      return named_dtype(is_float ? "f64" : is_negative ? "i64" : "u64");
    default:
      return nullptr;
  }
}

}  // namespace

bool is_typed_scalar(const Json& json) {
  return json.is_object() && json.size() == 1 &&
         (json.items().begin().key() == kHex || named_dtype(json.items().begin().key()) != nullptr);
}

std::vector<std::byte> typed_scalar(const Json& json, const std::string& where) {
  const std::string name = json.items().begin().key();
  const Json& value = json.at(name);
  if (name == kHex) return hex_bytes(value, where);
  const Dtype& dtype = *named_dtype(name);
  std::vector<std::byte> bytes;
  if (value.is_array()) {
    for (const Json& each : value) append(each, dtype, where, bytes);
  } else {
    append(value, dtype, where, bytes);
  }
  return bytes;
}

std::vector<std::byte> plain_scalar(const Json& json, const KernelArgument& argument, const std::string& where) {
  const Dtype* dtype = declared_dtype(argument.type);
  if (dtype == nullptr || dtype->bytes != argument.bytes) dtype = guessed_dtype(json, argument.bytes);
  if (dtype == nullptr) {
    throw UserError(
        fmt::format("{}: the plain number {} has no type of {} bytes: name one, as in {{\"f16\": 1.5}}, or "
                    "give the bytes, as in {{\"hex\": \"00ff\"}}",
                    where, json.dump(), argument.bytes));
  }
  std::vector<std::byte> bytes;
  append(json, *dtype, where, bytes);
  return bytes;
}

}  // namespace monojit::tools
