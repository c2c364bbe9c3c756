#include "tools/emulate/npy.h"

#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "tools/emulate/input_file.h"
#include "tools/output_file.h"

namespace monojit::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the elements in a file
constexpr std::uint64_t kMaxHeaderBytes = 1 << 20;
constexpr std::size_t kMaxDimensions = 64;  // as NumPy has it

/// What the header's dict says.
struct Header {
  std::string descr;
  bool fortran = false;
  Shape shape;
};

/// Reads the Python literal that a header is. Every failure goes to `file`'s name.
class HeaderParser {
 public:
  HeaderParser(const std::filesystem::path& file, std::string_view text) : file_(file), text_(text) {}

  Header parse() {
    expect('{');
    while (!take('}')) {
      entry();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) fail("its header goes on behind the dict");
    if (!descr_ || !fortran_ || !shape_) fail("its header lacks descr, fortran_order or shape");
    return {*std::move(descr_), *fortran_, *std::move(shape_)};
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const { refuse_input(file_, "a .npy file", reason); }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("its header has no '{}' at byte {}", wanted, at_));
  }

  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail(fmt::format("its header has no string at byte {}", at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("its header has a string without an end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  bool truth() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("its fortran_order is neither True nor False");
  }

  std::uint64_t number() {
    skip_blanks();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(value, 10U, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value))
        fail("its shape is larger than memory");
    }
    if (at_ == begin) fail("its shape has something that is no whole number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote them
    return value;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!take(')')) {
      if (shape.size() == kMaxDimensions) fail(fmt::format("its shape has more than {} dimensions", kMaxDimensions));
      shape.push_back(number());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  void entry() {
    const std::string key = quoted();
    expect(':');
    skip_blanks();
    if (key == "descr" && !descr_) {
      if (at_ < text_.size() && text_[at_] == '[') fail("its elements are structures, not numbers");
      descr_ = quoted();
    } else if (key == "fortran_order" && !fortran_) {
      fortran_ = truth();
    } else if (key == "shape" && !shape_) {
      shape_ = tuple();
    } else {
      fail(fmt::format("its header has '{}', unknown or twice", key));
    }
  }

  const std::filesystem::path& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_;
  std::optional<Shape> shape_;
};

const Dtype& checked_dtype(const std::filesystem::path& file, const std::string& descr) {
  if (const Dtype* found = npy_dtype(descr)) return *found;
  if (descr.starts_with('>')) {
    refuse_input(
        file, "a .npy file",
        fmt::format("its elements are big-endian ('{}'): save it with .astype('<{}')", descr, descr.substr(1)));
  }
  refuse_input(file, "a .npy file", fmt::format("no buffer can have its dtype '{}'", descr));
}

/// Elements from Fortran order, where the first index runs fastest, to C order.
std::vector<std::byte> to_c_order(std::span<const std::byte> from, const Shape& shape, unsigned bytes) {
  std::vector<std::byte> to(from.size());
  std::vector<std::uint64_t> strides(shape.size());  // of the source, in elements
  std::uint64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  std::vector<std::uint64_t> index(shape.size());
  std::uint64_t source = 0;
  for (std::size_t at = 0; at < to.size(); at += bytes) {
    std::memcpy(to.data() + at, from.data() + source * bytes, bytes);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < shape[axis]) break;
      source -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return to;
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace

Array read_npy(const std::filesystem::path& file) {
  InputFile input(file, "a .npy file");
  std::array<std::byte, 8> start{};
  input.read(start);
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) input.refuse("it does not begin with \\x93NUMPY");
  const auto version = static_cast<unsigned>(start[6]);
  if (version < 1 || version > 3) input.refuse(fmt::format("version {} of the format is not known", version));
  std::vector<std::byte> length(version == 1 ? 2 : 4);
  input.read(length);
  const std::uint64_t header_bytes = little_endian(length);
  if (header_bytes > kMaxHeaderBytes) input.refuse(fmt::format("its header claims {} bytes", header_bytes));
  std::string text(header_bytes, ' ');
  input.read(std::as_writable_bytes(std::span(text)));
  Header header = HeaderParser(file, text).parse();

  Array array{&checked_dtype(file, header.descr), std::move(header.shape), {}};
  const std::uint64_t wanted = element_count(array.shape, array.dtype->bytes, file.string()) * array.dtype->bytes;
  if (wanted != input.left()) {
    input.refuse(fmt::format("it holds {} bytes of data, its dtype '{}' and shape {} make {}", input.left(),
                             header.descr, shape_text(array.shape), wanted));
  }
  array.bytes.resize(wanted);
  input.read(array.bytes);
  if (header.fortran) array.bytes = to_c_order(array.bytes, array.shape, array.dtype->bytes);
  return array;
}

void write_npy(const std::filesystem::path& file, const Array& array) {
  std::string shape;
  for (const std::uint64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.dtype->npy, shape);
  const std::size_t before = kMagic.size() + 4;
  header.resize((before + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - before, ' ');
  header.back() = '\n';
  std::string start(kMagic);
  start += {'\1', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  const std::array<std::span<const std::byte>, 3> parts = {std::as_bytes(std::span(start)),
                                                           std::as_bytes(std::span(header)), array.bytes};
  replace_file(file, parts);
}

}  // namespace monojit::tools
