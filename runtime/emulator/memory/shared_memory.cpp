#include "runtime/emulator/memory/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

constexpr u64 kChunk = 4096;

[[noreturn]] void refuse(u64 bytes) {
  throw Failure(FailureKind::kOutOfMemory, fmt::format("{} bytes of shared memory: {}", bytes, std::strerror(errno)));
}

/// Copies what is not zero: the file stays sparse.
void copy_used(u8* to, const u8* from, u64 bytes) {
  static constexpr u8 kZeros[kChunk] = {};
  for (u64 at = 0; at < bytes; at += kChunk) {
    const u64 count = std::min(kChunk, bytes - at);
    if (std::memcmp(from + at, kZeros, count) != 0) std::memcpy(to + at, from + at, count);
  }
}

}  // namespace

int make_shareable(void* begin, u64 bytes) {
  const int descriptor = memfd_create("monojit-emulator-memory", MFD_CLOEXEC);
  if (descriptor < 0) refuse(bytes);
  void* copy = MAP_FAILED;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) {
    copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (copy == MAP_FAILED) {
    close(descriptor);
    refuse(bytes);
  }
  copy_used(static_cast<u8*>(copy), static_cast<const u8*>(begin), bytes);
  munmap(copy, bytes);
  map_shared(begin, bytes, descriptor);
  return descriptor;
}

void map_shared(void* begin, u64 bytes, int descriptor) {
  if (mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) == MAP_FAILED) refuse(bytes);
}

}  // namespace monojit::emulator
