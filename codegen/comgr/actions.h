#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::codegen::comgr {

/// An option of clang's front end that asks for nothing. comgr keeps no result of a command with an argument that
/// begins like it, and so has no disk cache of its own below ours: it would give back what it kept unchecked, and end a
/// build where its folder is full. AMD_COMGR_CACHE would switch it off for the whole process.
inline constexpr const char* kUncached = "-fprofile-instrument=none";

struct ActionResult {
  std::vector<std::byte> bytes;
  std::vector<std::string> warnings;  ///< of an action that succeeded
};

/// Bitcode to a relocatable object for `arch` ("gfx950"). `options` are those of clang's command line. Throws
/// CodegenError with comgr's log.
ActionResult codegen(std::span<const std::byte> bitcode, std::string_view arch, std::span<const std::string> options);

/// A relocatable object to a loadable code object. Throws CodegenError with comgr's log.
ActionResult link(std::span<const std::byte> relocatable, std::string_view arch);

}  // namespace monojit::codegen::comgr
