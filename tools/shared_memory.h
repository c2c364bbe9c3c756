#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace monojit::tools {

/// Memory that processes forked later share with this one. Pages come into being when they are touched.
class SharedMemory {
 public:
  /// Throws std::system_error when there is no address space for `bytes`.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// The next `bytes`, zeros, at a multiple of a page. Throws std::bad_alloc when too few are left.
  std::span<std::byte> take(std::size_t bytes);

  /// Those parts of a piece that were ever touched; the others read as zeros.
  std::vector<std::span<std::byte>> touched(std::span<std::byte> piece) const;

 private:
  int file_ = -1;
  std::span<std::byte> all_;
  std::size_t taken_ = 0;
};

}  // namespace monojit::tools
