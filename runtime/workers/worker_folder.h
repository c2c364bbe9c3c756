#pragma once

#include <filesystem>

#include "cache/file.h"

namespace monojit::runtime {

/// A folder for the temporary files of one worker, which is killed rather than asked to tidy up. It is locked as long
/// as this process lives, so that the next one can tell, and remove, what a killed process left.
class WorkerFolder {
 public:
  /// Throws UserError when there is no place for it. Removes what was left of dead ones.
  WorkerFolder();
  WorkerFolder(const WorkerFolder&) = delete;
  WorkerFolder& operator=(const WorkerFolder&) = delete;
  ~WorkerFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  /// False: another process took the folder for a dead one's before it was locked.
  bool make();

  std::filesystem::path path_;
  cache::Descriptor descriptor_;
};

}  // namespace monojit::runtime
