// OpenCL C to code objects, through comgr and the device libraries that it carries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::emulator::test {

/// A loadable code object of `source` for `arch` ("gfx950"). `options` are those of clang's command line. Throws
/// std::runtime_error with the compiler's messages, which name the source `name`.
std::vector<std::byte> compile_opencl(std::string_view source, const std::string& name, std::string_view arch,
                                      const std::vector<std::string>& options);

}  // namespace monojit::emulator::test
