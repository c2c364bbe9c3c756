#pragma once

#include <cstdint>
#include <filesystem>

#include "cache/file.h"

namespace monojit::cache {

/// A lock that processes (and threads, as each call opens the file anew) take in turn, and that dies with its holder.
/// The file exists only while someone holds or wants it and says who holds it (cache/lock_holder.h); one that a killed
/// holder left is taken over or swept.
class FileLock {
 public:
  enum class Wait : std::uint8_t { kForever, kNever };
  enum class State : std::uint8_t {
    kHeld,
    kBusy,         ///< another holds it (Wait::kNever only)
    kUnavailable,  ///< this file system or folder has no locks; error() says why
  };

  FileLock() = default;
  /// The file's folder must exist. `mode`: of a file that has to be made.
  FileLock(std::filesystem::path file, Wait wait, unsigned mode = Modes().file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock() { release(); }

  State state() const { return state_; }
  /// An errno value, 0 unless the state is kUnavailable.
  int error() const { return error_; }

  void release();

  /// Removes the lock files in `folder` that nobody holds.
  static void sweep(const std::filesystem::path& folder);

 private:
  /// False: the file was removed between opening and locking it; open the next one.
  bool attempt(Wait wait, unsigned mode);

  std::filesystem::path file_;
  Descriptor descriptor_;
  State state_ = State::kUnavailable;
  int error_ = 0;
};

inline constexpr const char* kLockSuffix = ".lock";

}  // namespace monojit::cache
