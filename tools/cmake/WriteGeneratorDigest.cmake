# Script mode: SHA-256 over "path digest" lines, written as a header only when it changed.
set(lines "")
foreach(source IN LISTS SOURCES)
  file(SHA256 ${ROOT}/${source} digest)
  string(APPEND lines "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${lines}")
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
#pragma once
#include <string_view>
namespace monojit::@NAMESPACE@ {
inline constexpr std::string_view kGeneratorDigest = "@digest@";
}
]] @ONLY)
file(TOUCH ${HEADER})
