#include "tools/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace monojit::tools {
namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : file_(memfd_create("monojit-group", MFD_CLOEXEC)) {
  if (file_ < 0) fail("memfd_create");
  void* address = MAP_FAILED;
  if (ftruncate(file_, static_cast<off_t>(bytes)) == 0) {
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  }
  if (address == MAP_FAILED) {
    const int reason = errno;
    close(file_);
    errno = reason;
    fail("mmap");
  }
  all_ = {static_cast<std::byte*>(address), bytes};
}

SharedMemory::~SharedMemory() {
  (void)munmap(all_.data(), all_.size());
  (void)close(file_);
}

std::span<std::byte> SharedMemory::take(std::size_t bytes) {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  if (whole > all_.size() - taken_) throw std::bad_alloc();
  const auto piece = all_.subspan(taken_, bytes);
  taken_ += whole;
  return piece;
}

std::vector<std::span<std::byte>> SharedMemory::touched(std::span<std::byte> piece) const {
  const auto first = static_cast<off_t>(piece.data() - all_.data());
  const off_t end = first + static_cast<off_t>(piece.size());
  std::vector<std::span<std::byte>> parts;
  for (off_t at = first; at < end;) {
    const off_t data = lseek(file_, at, SEEK_DATA);
    if (data < 0 && errno != ENXIO) fail("lseek");
    if (data < 0 || data >= end) break;
    const off_t hole = lseek(file_, data, SEEK_HOLE);
    if (hole < 0) fail("lseek");
    const off_t stop = std::min(hole, end);
    parts.push_back(all_.subspan(static_cast<std::size_t>(data), static_cast<std::size_t>(stop - data)));
    at = stop;
  }
  return parts;
}

}  // namespace monojit::tools
