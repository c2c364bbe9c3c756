#pragma once

#include <cstdint>

namespace monojit::runtime {

/// The most memory that this program has had in RAM at a time, in bytes; 0 where the system does not tell. What the
/// process was before it became this program does not count, as it would in getrusage().
std::uint64_t peak_memory();

/// The memory that it has in RAM now, in bytes; 0 where the system does not tell.
std::uint64_t resident_memory();

}  // namespace monojit::runtime
