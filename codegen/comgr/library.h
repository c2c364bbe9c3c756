#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <amd_comgr/amd_comgr.h>

namespace monojit::codegen::comgr {

/// The functions of one opened comgr, called as `library.create_data(...)`.
class Library {
 public:
  /// The comgr of this process, opened on first use and never closed. MONOJIT_COMGR_LIBRARY names the one to take; else
  /// one that is loaded already wins, then libamd_comgr.so.3, .so.2 and .so are looked for. Throws CodegenError, saying
  /// what was tried, when there is none.
  static const Library& instance();
  /// Opens the first of `names` that is loaded already, else the first that can be opened.
  explicit Library(std::span<const std::string> names);

  /// "3.0"
  std::string version() const;
  /// The file that was opened.
  const std::string& path() const { return path_; }
  /// Throws CodegenError naming `call` unless `status` is success.
  void check(amd_comgr_status_t status, const char* call) const;

#define MONOJIT_COMGR_FUNCTION(name) decltype(&amd_comgr_##name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "codegen/comgr/functions.inc"
#undef MONOJIT_COMGR_FUNCTION

 private:
  void resolve(void* handle);
  std::string path_;
};

}  // namespace monojit::codegen::comgr
