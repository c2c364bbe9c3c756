// Compiles inner loops for the host at hand. A source file puts its loops into an .inc file and includes this with
//
//   #define MONOJIT_HOST_LOOPS "kernels/common/reference/name_loops.inc"
//   #include "kernels/common/reference/host_variants.h"
//
// inside its anonymous namespace; the loops are then there three times, in namespaces any_host (any x86-64), v3 (AVX2
// with FMA) and v4 (AVX-512), and MONOJIT_FOR_HOST(function) is the one to call. The file has to include everything
// that the loops use before. Results do not depend on the host: every operation is exact or rounds as IEEE says.
//
// Included files and not attributes, as GCC takes vectors apart that a function's own target lacks before it inlines.

// NOLINTBEGIN(misc-definitions-in-headers)
namespace any_host {
#include MONOJIT_HOST_LOOPS
}  // namespace any_host

#ifndef __clang__
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#endif
namespace v3 {
#include MONOJIT_HOST_LOOPS
}  // namespace v3
#ifndef __clang__
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#endif
namespace v4 {
#include MONOJIT_HOST_LOOPS
}  // namespace v4
#ifndef __clang__
#pragma GCC pop_options
#endif
// NOLINTEND(misc-definitions-in-headers)

#define MONOJIT_FOR_HOST(function)                      \
  (__builtin_cpu_supports("x86-64-v4")   ? v4::function \
   : __builtin_cpu_supports("x86-64-v3") ? v3::function \
                                         : any_host::function)
