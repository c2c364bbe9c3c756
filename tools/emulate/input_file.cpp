#include "tools/emulate/input_file.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "kernels/common/error.h"

namespace monojit::tools {

void refuse_input(const std::filesystem::path& file, std::string_view what, std::string_view reason) {
  throw UserError(fmt::format("{} can't be used as {}: {}", file.string(), what, reason));
}

InputFile::InputFile(std::filesystem::path file, std::string_view what) : file_(std::move(file)), what_(what) {
  std::error_code error;
  const auto status = std::filesystem::status(file_, error);
  if (status.type() == std::filesystem::file_type::not_found) refuse("there is no such file");
  if (error) refuse(error.message());
  if (!std::filesystem::is_regular_file(status)) refuse("it is no regular file");
  left_ = std::filesystem::file_size(file_, error);
  if (error) refuse(error.message());
  stream_.open(file_, std::ios::binary);
  if (!stream_) refuse("it can't be opened");
}

void InputFile::read(std::span<std::byte> to) {
  if (to.size() > left_)
    refuse(fmt::format("it is cut short: {} bytes are left where {} are needed", left_, to.size()));
  stream_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  if (!stream_) refuse("reading it failed");
  left_ -= to.size();
}

std::vector<std::byte> read_whole(const std::filesystem::path& file, std::string_view what) {
  InputFile input(file, what);
  std::vector<std::byte> bytes(input.left());
  input.read(bytes);
  return bytes;
}

}  // namespace monojit::tools
