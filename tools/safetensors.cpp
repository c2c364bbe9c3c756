#include "tools/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/common/error.h"
#include "runtime/strict_json.h"
#include "tools/output_file.h"

namespace monojit::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 8;  // a list of a tensor of the header is 3 deep
constexpr const char* kMetadata = "__metadata__";
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // as the reference implementation has it
constexpr std::array<std::pair<std::string_view, unsigned>, 16> kDtypeBytes = {{{"BOOL", 1},
                                                                                {"U8", 1},
                                                                                {"I8", 1},
                                                                                {"F8_E4M3", 1},
                                                                                {"F8_E4M3FNUZ", 1},
                                                                                {"F8_E5M2", 1},
                                                                                {"F8_E8M0", 1},
                                                                                {"U16", 2},
                                                                                {"I16", 2},
                                                                                {"F16", 2},
                                                                                {"BF16", 2},
                                                                                {"U32", 4},
                                                                                {"I32", 4},
                                                                                {"F32", 4},
                                                                                {"U64", 8},
                                                                                {"I64", 8}}};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {
    std::error_code error;
    if (std::filesystem::is_other(file, error)) fail("it is no regular file");
    size_ = std::filesystem::file_size(file, error);
    if (error) fail(error.message());
    stream_.open(file, std::ios::binary);  // a fifo has no size: opening it would wait for a writer
    if (!stream_) fail("it can't be opened");
  }

  std::vector<FileTensor> read() {
    const json header = read_header();
    std::vector<Placed> placed;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        (void)metadata_of(entry);
      } else {
        placed.push_back(describe(name, entry));
      }
    }
    check_places(placed);
    std::vector<FileTensor> tensors;
    tensors.reserve(placed.size());
    for (Placed& each : placed) tensors.push_back(load(std::move(each)));
    return tensors;
  }

  FileMetadata metadata() {
    const json header = read_header();
    return header.contains(kMetadata) ? metadata_of(header[kMetadata]) : FileMetadata();
  }

 private:
  /// A tensor without its bytes, which lie at begin..end of the data.
  struct Placed {
    FileTensor tensor;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  [[noreturn]] void fail(std::string_view reason) const {
    throw UserError(fmt::format("{} can't be used as a safetensors file: {}", file_.string(), reason));
  }
  [[noreturn]] void fail(std::string_view tensor, std::string_view reason) const {
    fail(fmt::format("tensor '{}' {}", tensor, reason));
  }

  void read_bytes(void* to, std::uint64_t bytes) {
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    if (!stream_) fail("reading it failed");
  }

  json read_header() {
    std::array<unsigned char, 8> raw{};
    if (size_ < raw.size()) fail(fmt::format("it has {} bytes, a header length alone takes 8", size_));
    read_bytes(raw.data(), raw.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = raw.size(); i-- > 0;) bytes = bytes << 8 | raw[i];
    if (bytes > kMaxHeaderBytes || bytes > size_ - raw.size()) {
      fail(fmt::format("its header claims {} bytes, the file has {}", bytes, size_));
    }
    std::string text(bytes, ' ');
    read_bytes(text.data(), bytes);
    data_begin_ = raw.size() + bytes;
    if (const std::string problem = runtime::json_problem(text, kMaxDepth); !problem.empty())
      fail(fmt::format("its header: {}", problem));
    json header = json::parse(text, nullptr, false);
    if (!header.is_object()) fail("its header is no JSON object");
    return header;
  }

  FileMetadata metadata_of(const json& metadata) const {
    const auto is_text = [](const json& value) { return value.is_string(); };
    if (!metadata.is_object() || !std::ranges::all_of(metadata, is_text)) {
      fail("its __metadata__ is no map of strings to strings");
    }
    return metadata.get<FileMetadata>();
  }

  /// The tensors take all of the data, and no two the same bytes.
  void check_places(const std::vector<Placed>& placed) const {
    std::vector<const Placed*> order;
    order.reserve(placed.size());
    for (const Placed& each : placed) order.push_back(&each);
    std::ranges::sort(order, {}, [](const Placed* each) { return std::pair(each->begin, each->end); });
    std::uint64_t end = 0;
    for (const Placed* each : order) {
      if (each->begin != end) {
        fail(each->tensor.name,
             fmt::format("begins at {}, but what lies before it ends at {}: tensors {}", each->begin, end,
                         each->begin < end ? "overlap" : "have to follow each other without gaps"));
      }
      end = each->end;
    }
    if (const std::uint64_t data_bytes = size_ - data_begin_; end != data_bytes) {
      fail(
          fmt::format("its tensors end at {}, but it holds {} bytes of data{}", end, data_bytes,
                      order.empty() ? "" : fmt::format(": nothing may follow tensor '{}'", order.back()->tensor.name)));
    }
  }

  std::uint64_t unsigned_number(std::string_view name, const json& value, std::string_view what) const {
    if (!value.is_number_unsigned())
      fail(name, fmt::format("has a {} that is no whole number: {}", what, value.dump()));
    return value.get<std::uint64_t>();
  }

  /// Bytes that `tensor` takes by its dtype and shape.
  std::uint64_t expected_bytes(const FileTensor& tensor) const {
    std::uint64_t bytes = 0;
    for (const auto& [dtype, size] : kDtypeBytes) {
      if (dtype == tensor.dtype) bytes = size;
    }
    if (bytes == 0) fail(tensor.name, fmt::format("has the dtype '{}', which is not known", tensor.dtype));
    for (const std::int64_t extent : tensor.shape) {
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
        fail(tensor.name, "is larger than memory");
    }
    return bytes;
  }

  Placed describe(const std::string& name, const json& entry) const {
    FileTensor tensor{name, {}, {}, {}};
    const auto has = [&](const char* field) { return entry.is_object() && entry.contains(field); };
    if (!has("dtype") || !entry["dtype"].is_string() || !has("shape") || !entry["shape"].is_array() ||
        !has("data_offsets") || !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2) {
      fail(name, "lacks dtype, shape or data_offsets");
    }
    tensor.dtype = entry["dtype"].get<std::string>();
    for (const json& extent : entry["shape"]) {
      const std::uint64_t value = unsigned_number(name, extent, "shape");
      if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) fail(name, "is larger than memory");
      tensor.shape.push_back(static_cast<std::int64_t>(value));
    }
    const std::uint64_t begin = unsigned_number(name, entry["data_offsets"][0], "data offset");
    const std::uint64_t end = unsigned_number(name, entry["data_offsets"][1], "data offset");
    const std::uint64_t data_bytes = size_ - data_begin_;
    if (begin > end || end > data_bytes) {
      fail(name, fmt::format("lies at {}..{}, but the file holds {} bytes of data: is it cut short?", begin, end,
                             data_bytes));
    }
    if (const std::uint64_t wanted = expected_bytes(tensor); wanted != end - begin) {
      fail(name, fmt::format("has {} bytes, its dtype {} and shape [{}] make {}", end - begin, tensor.dtype,
                             fmt::join(tensor.shape, ", "), wanted));
    }
    return {std::move(tensor), begin, end};
  }

  FileTensor load(Placed&& placed) {
    FileTensor tensor = std::move(placed.tensor);
    tensor.bytes.resize(placed.end - placed.begin);
    stream_.seekg(static_cast<std::streamoff>(data_begin_ + placed.begin));
    read_bytes(tensor.bytes.data(), tensor.bytes.size());
    return tensor;
  }

  std::filesystem::path file_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::uint64_t data_begin_ = 0;
};

std::string header_text(const std::vector<FileTensor>& tensors, const FileMetadata& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::uint64_t offset = 0;
  for (const FileTensor& tensor : tensors) {
    const std::uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data is 8-byte aligned, as readers that map the file like it
  return text;
}

}  // namespace

std::vector<FileTensor> read_safetensors(const std::filesystem::path& file) { return Reader(file).read(); }

FileMetadata read_metadata(const std::filesystem::path& file) { return Reader(file).metadata(); }

void write_safetensors(const std::filesystem::path& file, const std::vector<FileTensor>& tensors,
                       const FileMetadata& metadata) {
  const std::string header = header_text(tensors, metadata);
  std::array<char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(header.size() >> 8 * i & 0xFF);
  std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(length)), std::as_bytes(std::span(header))};
  for (const FileTensor& tensor : tensors) parts.emplace_back(tensor.bytes);
  replace_file(file, parts);
}

std::string_view file_dtype(kernels::DType dtype, std::string_view arch) {
  switch (dtype) {
    case kernels::DType::kUint8:
      return "U8";
    case kernels::DType::kInt32:
      return "I32";
    case kernels::DType::kInt64:
      return "I64";
    case kernels::DType::kBFloat16:
      return "BF16";
    case kernels::DType::kFloat32:
      return "F32";
    case kernels::DType::kFp8:
      return arch == "gfx942" ? "F8_E4M3FNUZ" : "F8_E4M3";
  }
  return "U8";
}

}  // namespace monojit::tools
