#include "tools/emulate/arguments.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/emulate/json_text.h"
#include "tools/emulate/scalar_value.h"

namespace monojit::tools {
namespace {

constexpr std::uint32_t kPointerBytes = 8;
constexpr std::uint32_t kLdsAlignment = 16;
constexpr std::uint32_t kSegmentAlignment = 8;
constexpr std::string_view kLdsPointer = "dynamic_shared_pointer";

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

class Parser {
 public:
  Parser(const KernelInfo& kernel, const std::string& where, const std::filesystem::path& folder)
      : kernel_(kernel), where_(where), folder_(folder) {}

  ArgumentFile parse(const Json& json) {
    if (json.is_array()) {
      take_list(json);
    } else if (json.is_object()) {
      check_keys(json, {"buffers", "arguments"}, where_);
      if (json.contains("buffers")) take_buffers(json["buffers"]);
      const Json arguments = json.contains("arguments") ? json["arguments"] : Json::array();
      if (arguments.is_object()) {
        take_by_name(arguments);
      } else {
        take_list(arguments);
      }
    } else {
      throw UserError(where_ + " has to be a list of arguments, or an object with \"buffers\" and \"arguments\"");
    }
    if (!kernel_.described) check_total();
    check_buffers_used();
    return std::move(file_);
  }

 private:
  /// Throws what is wrong, and the kernel's arguments.
  [[noreturn]] void fail(const std::string& reason) const {
    throw UserError(fmt::format("{}: {}\n{}", where_, reason, argument_list(kernel_)));
  }

  void take_buffers(const Json& json) {
    if (!json.is_object()) throw UserError(where_ + ": \"buffers\" has to be an object, each buffer under its name");
    for (const auto& [name, buffer] : json.items()) {
      const std::string where = fmt::format("{}: buffer '{}'", where_, name);
      if (!buffer.is_object()) throw UserError(where + " has to be an object");
      named_.emplace(name, add_buffer(buffer, where, name));
    }
  }

  std::size_t add_buffer(const Json& json, const std::string& where, const std::string& name) {
    file_.buffers.push_back(parse_buffer(json, where, folder_, file_.buffers.size()));
    file_.buffers.back().name = name;
    used_.push_back(false);
    return file_.buffers.size() - 1;
  }

  void take_list(const Json& json) {
    if (!json.is_array()) throw UserError(where_ + ": \"arguments\" has to be a list, or an object with their names");
    if (kernel_.described && json.size() != kernel_.arguments.size()) {
      fail(fmt::format("{} argument{}, where the kernel takes {}", json.size(), json.size() == 1 ? "" : "s",
                       kernel_.arguments.size()));
    }
    for (std::size_t i = 0; i < json.size(); ++i) take(json[i], i);
  }

  void take_by_name(const Json& json) {
    if (!kernel_.described) fail("arguments can't be given by name: give them as a list");
    std::vector<std::string_view> names;
    for (const KernelArgument& argument : kernel_.arguments) names.emplace_back(argument.name);
    for (const auto& [name, value] : json.items()) {
      if (std::ranges::find(names, name) == names.end())
        fail(fmt::format("the kernel has no argument '{}'{}", name, nearest_hint(name, names)));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name(names[i]);
      if (std::ranges::count(names, names[i]) > 1)
        fail(fmt::format("the kernel has several arguments '{}': give all of them as a list", name));
      if (!json.contains(name)) fail(fmt::format("argument '{}' is missing", name));
      take(json[name], i);
    }
  }

  void take(const Json& json, std::size_t index) {
    KernelArgument argument;
    if (kernel_.described) argument = kernel_.arguments[index];
    const std::string name = argument.name.empty() ? fmt::format("argument {}", index) : argument.name;
    const std::string where = argument.name.empty() ? fmt::format("{}: argument {}", where_, index)
                                                    : fmt::format("{}: argument {} ({})", where_, index, argument.name);
    ArgumentValue value = value_of(json, argument, where, name);
    const std::uint32_t bytes = size_of(value);
    if (!kernel_.described) {
      argument = inferred(value);
    } else if (bytes != argument.bytes) {
      fail(fmt::format("argument {} has {} bytes, where the kernel takes {}", index, bytes, argument.bytes));
    }
    file_.values.push_back(std::move(value));
    file_.arguments.push_back(std::move(argument));
  }

  ArgumentValue value_of(const Json& json, const KernelArgument& argument, const std::string& where,
                         const std::string& name) {
    if (argument.kind == kLdsPointer) return lds_pointer(json, where);
    ArgumentValue value;
    if (json.is_null()) {
      value.bytes.resize(kPointerBytes);
    } else if (json.is_number() || json.is_boolean()) {
      if (!kernel_.described) fail(fmt::format("{} needs a type, as in {{\"i32\": 5}}: {}", name, json.dump()));
      if (argument.kind != "by_value") fail(fmt::format("{} is a pointer, not a number: {}", name, json.dump()));
      value.bytes = plain_scalar(json, argument, where);
    } else if (is_typed_scalar(json)) {
      value.bytes = typed_scalar(json, where);
    } else if (json.is_object() && json.contains("buffer")) {
      check_keys(json, {"buffer", "offset"}, where);
      const std::string wanted = text_member(json, "buffer", where);
      const auto found = named_.find(wanted);
      if (found == named_.end())
        throw UserError(fmt::format("{}: there is no buffer '{}'{}", where, wanted, buffer_hint(wanted)));
      value.buffer = found->second;
      if (json.contains("offset")) value.buffer_offset = unsigned_member(json, "offset", where);
    } else if (json.is_object()) {
      value.buffer = add_buffer(json, where, name);
    } else {
      throw UserError(fmt::format("{}: {} is neither a number, a typed value, a buffer nor null", where, json.dump()));
    }
    if (value.buffer) used_[*value.buffer] = true;
    return value;
  }

  static ArgumentValue lds_pointer(const Json& json, const std::string& where) {
    constexpr std::uint64_t kMost = 1 << 20;
    if (!json.is_object() || !json.contains("local"))
      throw UserError(where + " points to LDS: give the bytes that it needs, as in {\"local\": 1024}");
    check_keys(json, {"local"}, where);
    const std::uint64_t bytes = unsigned_member(json, "local", where);
    if (bytes > kMost) throw UserError(fmt::format("{}: {} bytes of LDS are more than any chip has", where, bytes));
    ArgumentValue value;
    value.local = static_cast<std::uint32_t>(bytes);
    return value;
  }

  std::string buffer_hint(const std::string& wanted) const {
    std::vector<std::string_view> names;
    for (const auto& [name, index] : named_) names.emplace_back(name);
    return nearest_hint(wanted, names);
  }

  static std::uint32_t size_of(const ArgumentValue& value) {
    return value.buffer ? kPointerBytes : value.local ? 4 : static_cast<std::uint32_t>(value.bytes.size());
  }

  /// Behind the arguments before, aligned to its size as a compiler would.
  KernelArgument inferred(const ArgumentValue& value) {
    const std::uint32_t bytes = size_of(value);
    std::uint32_t alignment = 1;
    while (alignment < bytes && alignment < kPointerBytes) alignment *= 2;
    KernelArgument argument;
    argument.kind = value.buffer ? "global_buffer" : "by_value";
    argument.bytes = bytes;
    argument.offset = static_cast<std::uint32_t>(round_up(end_, alignment));
    end_ = argument.offset + bytes;
    return argument;
  }

  void check_total() const {
    if (round_up(end_, kSegmentAlignment) != round_up(kernel_.kernarg_bytes, kSegmentAlignment))
      fail(fmt::format("the arguments have {} bytes, where the kernel takes {}", end_, kernel_.kernarg_bytes));
  }

  void check_buffers_used() const {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) throw UserError(file_.buffers[i].where + " is given to no argument");
    }
  }

  const KernelInfo& kernel_;
  const std::string& where_;
  const std::filesystem::path& folder_;
  ArgumentFile file_;
  std::map<std::string, std::size_t> named_;
  std::vector<bool> used_;
  std::uint32_t end_ = 0;  ///< of the arguments whose places are inferred
};

}  // namespace

ArgumentFile parse_arguments(const Json& json, const KernelInfo& kernel, const std::string& where,
                             const std::filesystem::path& folder) {
  return Parser(kernel, where, folder).parse(json);
}

std::vector<std::byte> pack_arguments(const ArgumentFile& file, const std::vector<std::uint64_t>& addresses,
                                      std::uint32_t static_lds, std::uint32_t& dynamic_lds) {
  std::vector<std::byte> packed;
  for (std::size_t i = 0; i < file.values.size(); ++i) {
    const ArgumentValue& value = file.values[i];
    const KernelArgument& argument = file.arguments[i];
    if (packed.size() < argument.offset + argument.bytes) packed.resize(argument.offset + argument.bytes);
    std::byte* const place = packed.data() + argument.offset;
    if (value.buffer) {
      const std::uint64_t address = addresses[*value.buffer] + value.buffer_offset;
      std::memcpy(place, &address, sizeof address);
    } else if (value.local) {
      const auto offset = static_cast<std::uint32_t>(round_up(static_lds + dynamic_lds, kLdsAlignment));
      dynamic_lds = offset - static_lds + *value.local;
      std::memcpy(place, &offset, sizeof offset);
    } else {
      std::ranges::copy(value.bytes, place);
    }
  }
  return packed;
}

}  // namespace monojit::tools
