#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "kernels/common/error.h"
#include "kernels/common/reference/random.h"
#include "tools/emulate/buffer_spec.h"
#include "tools/emulate/input_file.h"
#include "tools/emulate/npy.h"
#include "tools/output_file.h"

namespace monojit::tools {
namespace {

using Kind = Generator::Kind;

constexpr const char* kRaw = "a buffer's bytes";

[[noreturn]] void refuse(const BufferSpec& spec, const std::string& reason) {
  throw UserError(fmt::format("{}: {}", spec.where, reason));
}

std::uint64_t byte_count(const BufferSpec& spec, const Dtype& dtype, const Shape& shape, std::uint64_t most_bytes) {
  const std::uint64_t bytes = element_count(shape, dtype.bytes, spec.where) * dtype.bytes;
  if (bytes > most_bytes) refuse(spec, fmt::format("{} bytes, where the device has {}", bytes, most_bytes));
  return bytes;
}

/// An array of zeros.
Array blank(const BufferSpec& spec, std::uint64_t most_bytes) {
  Array array{spec.dtype, {}, {}};
  if (spec.bytes) {
    array.dtype = npy_dtype("|u1");
    array.shape = {*spec.bytes};
  } else {
    array.shape = *spec.shape;
  }
  const std::uint64_t bytes = byte_count(spec, *array.dtype, array.shape, most_bytes);
  try {
    array.bytes.resize(bytes);
  } catch (const std::exception&) {  // no memory, or more than a vector takes
    refuse(spec, fmt::format("{} bytes don't fit into this machine's memory", bytes));
  }
  return array;
}

class Numbers {
 public:
  explicit Numbers(const Generator& generator) : generator_(generator), random_(generator.seed, 0) {}

  double next() {
    const double index = static_cast<double>(count_++);
    switch (generator_.kind) {
      case Kind::kZeros:
        return 0;
      case Kind::kOnes:
        return 1;
      case Kind::kConstant:
        return generator_.first;
      case Kind::kArange:
        return generator_.first + generator_.second * index;
      case Kind::kUniform:
        return generator_.first + (generator_.second - generator_.first) * random_.uniform();
      case Kind::kNormal:
        return generator_.first + generator_.second * static_cast<double>(random_.gaussian());
    }
    return 0;
  }

 private:
  const Generator& generator_;
  kernels::reference::Random random_;
  std::uint64_t count_ = 0;
};

/// Integers take the random kinds rounded down, and refuse what they can't hold.
void generate(const BufferSpec& spec, Array& array) {
  Numbers numbers(*spec.generator);
  const bool random = spec.generator->kind == Kind::kUniform || spec.generator->kind == Kind::kNormal;
  const Dtype& dtype = *array.dtype;
  for (std::size_t at = 0; at < array.bytes.size(); at += dtype.bytes) {
    double value = numbers.next();
    if (random && !dtype.is_float()) value = std::floor(value);
    if (!dtype.holds(value)) refuse(spec, fmt::format("{} can't hold the generated {}", dtype.name, value));
    dtype.store(value, array.bytes.data() + at);
  }
}

/// `from` as `wanted`: a type that NumPy lacks is there as its bits; other numbers are rounded to a float type.
Array converted(Array from, const Dtype& wanted, const std::string& where) {
  if (from.dtype->npy == wanted.npy) {
    from.dtype = &wanted;
    return from;
  }
  if (!wanted.is_float())
    throw UserError(fmt::format("{}: the file holds {}, not {}", where, from.dtype->name, wanted.name));
  Array to{&wanted, from.shape, std::vector<std::byte>(from.elements() * wanted.bytes)};
  for (std::uint64_t i = 0; i < from.elements(); ++i)
    wanted.store(from.dtype->value(from.at(i)), to.bytes.data() + i * wanted.bytes);
  return to;
}

Array load_raw(const BufferSpec& spec, std::uint64_t most_bytes) {
  Array array{spec.dtype != nullptr ? spec.dtype : npy_dtype("|u1"), {}, read_whole(spec.raw, kRaw)};
  const std::uint64_t held = array.bytes.size();
  if (spec.bytes) array.shape = {*spec.bytes};
  if (spec.shape) array.shape = *spec.shape;
  if (!spec.bytes && !spec.shape) array.shape = {held / array.dtype->bytes};
  const std::uint64_t wanted = byte_count(spec, *array.dtype, array.shape, most_bytes);
  if (wanted != held) {
    refuse_input(
        spec.raw, kRaw,
        fmt::format("it has {} bytes, {} of shape {} is {}", held, array.dtype->name, shape_text(array.shape), wanted));
  }
  return array;
}

Array load_npy(const BufferSpec& spec, std::uint64_t most_bytes) {
  Array array = read_npy(spec.npy);
  if (spec.dtype != nullptr) array = converted(std::move(array), *spec.dtype, spec.where);
  (void)byte_count(spec, *array.dtype, array.shape, most_bytes);
  if (spec.shape && *spec.shape != array.shape) {
    refuse(spec, fmt::format("{} has the shape {}, not {}", spec.npy.string(), shape_text(array.shape),
                             shape_text(*spec.shape)));
  }
  return array;
}

}  // namespace

Array load_buffer(const BufferSpec& spec, std::uint64_t most_bytes) {
  if (!spec.npy.empty()) return load_npy(spec, most_bytes);
  if (!spec.raw.empty()) return load_raw(spec, most_bytes);
  Array array = blank(spec, most_bytes);
  if (spec.generator) generate(spec, array);
  return array;
}

Array read_elements(const std::filesystem::path& file, const Array& like) {
  if (file.extension() != ".npy") {
    Array array{like.dtype, like.shape, read_whole(file, kRaw)};
    if (array.bytes.size() != like.bytes.size())
      refuse_input(file, kRaw,
                   fmt::format("it has {} bytes, the buffer has {}", array.bytes.size(), like.bytes.size()));
    return array;
  }
  Array array = read_npy(file);
  if (array.dtype->npy == like.dtype->npy) array.dtype = like.dtype;
  return array;
}

void write_elements(const std::filesystem::path& file, const Array& array) {
  if (file.extension() == ".npy") return write_npy(file, array);
  const std::span<const std::byte> bytes(array.bytes);
  replace_file(file, {&bytes, 1});
}

}  // namespace monojit::tools
