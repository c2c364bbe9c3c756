// What the *_core.h headers need to be OpenCL C for the device and C++ for the host, with the same meaning.
#pragma once

#ifdef __OPENCL_C_VERSION__
#define CORE
#define CORE_CALL __attribute__((noinline))
#define TABLE constant
#else
#include <cstdint>
#include <cstring>
#define CORE inline
#define CORE_CALL inline
#define TABLE inline constexpr
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = std::uint64_t;
#endif
