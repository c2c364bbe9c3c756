#include "runtime/image_note.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace monojit::runtime {
namespace {

using Json = nlohmann::json;

constexpr const char* kKernels = "amdhsa.kernels";
constexpr const char* kSymbol = ".symbol";
constexpr const char* kKernargBytes = ".kernarg_segment_size";
constexpr const char* kArguments = ".args";
constexpr const char* kName = ".name";
constexpr const char* kOffset = ".offset";
constexpr const char* kSize = ".size";

struct Field {
  const char* name;
  std::uint32_t Resources::* value;
};
constexpr Field kFields[] = {{".vgpr_count", &Resources::vgpr},
                             {".agpr_count", &Resources::agpr},
                             {".sgpr_count", &Resources::sgpr},
                             {".group_segment_fixed_size", &Resources::lds_bytes},
                             {".private_segment_fixed_size", &Resources::scratch_bytes},
                             {".vgpr_spill_count", &Resources::vgpr_spills},
                             {".sgpr_spill_count", &Resources::sgpr_spills}};

/// Takes one kernel out of a note while that is read, so that no copy of the whole is made: a cache hit passes here.
class NoteReader : public nlohmann::json_sax<Json> {
 public:
  explicit NoteReader(std::string_view descriptor) : descriptor_(descriptor) {}

  std::optional<KernelRecord> found;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return take(value); }
  bool number_unsigned(number_unsigned_t value) override { return take(value); }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& text) override {
    if (is_at(kKernelDepth, kSymbol)) {
      kernel_.symbol = std::move(text);
    } else if (is_in_argument() && keys_[kArgumentDepth] == kName) {
      kernel_.arguments.back().name = std::move(text);
    }
    return true;
  }
  bool key(string_t& name) override {
    keys_[depth_] = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  // Containers around the values of the whole, of a kernel and of an argument: maps in maps or lists.
  static constexpr std::size_t kRootDepth = 1, kKernelDepth = 3, kArgumentDepth = 5;
  static constexpr std::size_t kMostDepth = 32;  // more than any compiler writes; the parser follows by recursion

  bool is_at(std::size_t depth, const char* key) const {
    return depth_ == depth && keys_[kRootDepth] == kKernels && keys_[depth] == key;
  }
  bool is_in_argument() const {
    return depth_ == kArgumentDepth && keys_[kRootDepth] == kKernels && keys_[kKernelDepth] == kArguments;
  }
  bool enter() {
    if (depth_ == kMostDepth) return false;
    keys_[++depth_].clear();
    if (depth_ == kKernelDepth) kernel_ = {};
    if (is_in_argument()) kernel_.arguments.emplace_back();
    return true;
  }
  bool leave() {
    if (depth_-- == kKernelDepth && !found && kernel_.symbol == descriptor_) found = std::exchange(kernel_, {});
    return true;
  }
  /// Where the number that stands here belongs; null: nowhere.
  std::uint32_t* place() {
    if (is_in_argument()) {
      ArgumentSlot& argument = kernel_.arguments.back();
      if (keys_[depth_] == kOffset) return &argument.offset;
      return keys_[depth_] == kSize ? &argument.size : nullptr;
    }
    if (is_at(kKernelDepth, kKernargBytes)) return &kernel_.kernarg_bytes;
    const auto* const field =
        std::ranges::find_if(kFields, [&](const Field& each) { return is_at(kKernelDepth, each.name); });
    return field != std::end(kFields) ? &(kernel_.resources.*field->value) : nullptr;
  }
  template <class Number>
  bool take(Number number) {
    std::uint32_t* const to = place();
    if (to == nullptr) return true;
    if (!std::in_range<std::uint32_t>(number)) return false;
    *to = static_cast<std::uint32_t>(number);
    return true;
  }

  std::string_view descriptor_;
  std::array<std::string, kMostDepth + 1> keys_;  ///< on the way to what is read
  std::size_t depth_ = 0;
  KernelRecord kernel_;  ///< that is read
};

}  // namespace

std::optional<KernelRecord> noted_kernel(std::span<const std::byte> note, std::string_view descriptor) {
  NoteReader reader(descriptor);
  const auto* const first = reinterpret_cast<const std::uint8_t*>(note.data());
  // What fills the note up to a multiple of four bytes is not looked at.
  if (!Json::sax_parse(first, first + note.size(), &reader, Json::input_format_t::msgpack, false)) return std::nullopt;
  return std::move(reader.found);
}

std::vector<std::byte> note_of(const KernelRecord& kernel, std::string_view descriptor) {
  Json noted = {{kSymbol, descriptor}, {kKernargBytes, kernel.kernarg_bytes}, {kArguments, Json::array()}};
  for (const Field& field : kFields) noted[field.name] = kernel.resources.*field.value;
  for (const ArgumentSlot& argument : kernel.arguments) {
    noted[kArguments].push_back({{kName, argument.name}, {kOffset, argument.offset}, {kSize, argument.size}});
  }
  const std::vector<std::uint8_t> text = Json::to_msgpack({{kKernels, Json::array({noted})}});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace monojit::runtime
