#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace monojit::runtime {

/// What one kernel takes of the chip, from the code object's notes.
struct Resources {
  std::uint32_t vgpr = 0;  ///< vector registers a lane, AGPRs among them
  std::uint32_t agpr = 0;
  std::uint32_t sgpr = 0;
  std::uint32_t lds_bytes = 0;      ///< a workgroup
  std::uint32_t scratch_bytes = 0;  ///< a lane
  std::uint32_t vgpr_spills = 0;
  std::uint32_t sgpr_spills = 0;
  std::uint32_t code_bytes = 0;
  bool operator==(const Resources&) const = default;
};

/// An argument as the code object lays it out.
struct ArgumentSlot {
  std::string name;
  std::uint32_t offset = 0;  ///< bytes
  std::uint32_t size = 0;    ///< bytes
  bool operator==(const ArgumentSlot&) const = default;
};

/// Milliseconds of each stage of a build.
struct BuildTimes {
  double emit = 0;
  double codegen = 0;
  double link = 0;
  bool operator==(const BuildTimes&) const = default;
};

/// All that is kept of a build besides its code object: the metadata of a cache entry.
struct KernelRecord {
  std::string symbol;
  Resources resources;
  std::vector<ArgumentSlot> arguments;
  std::uint32_t kernarg_bytes = 0;
  BuildTimes times_ms;
  std::string ir_digest;  ///< of the emitted module's bitcode, hex
  std::vector<std::string> warnings;
  bool operator==(const KernelRecord&) const = default;
};

/// The record as JSON, one object with the names of the fields above.
std::string to_json_text(const KernelRecord& record);
/// Throws RecordError when `text` isn't what to_json_text() writes.
KernelRecord record_from_json(std::string_view text);

/// A cache entry's metadata can't be read: a damaged entry, or one of another version.
class RecordError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace monojit::runtime
