#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::codegen::comgr {

struct ActionResult {
  std::vector<std::byte> bytes;
  std::string log;  ///< diagnostics of an action that succeeded: warnings, remarks
};

/// Bitcode to a relocatable object for `arch` ("gfx950"). `options` are those of clang's command line. Throws
/// CodegenError with comgr's log.
ActionResult codegen(std::span<const std::byte> bitcode, std::string_view arch, std::span<const std::string> options);

/// A relocatable object to a loadable code object. Throws CodegenError with comgr's log.
ActionResult link(std::span<const std::byte> relocatable, std::string_view arch);

}  // namespace monojit::codegen::comgr
