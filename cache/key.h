#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cache/bytes.h"
#include "cache/digest.h"

namespace monojit::cache {

/// Everything that a code object depends on, and nothing else: no path, host, user, time or environment. All of it is
/// compared on every read; the digest only finds the file.
struct Key {
  std::string family;            ///< "minimax_m3.k1"
  std::string text;              ///< the build key as people write it, for messages and listings
  std::vector<std::byte> bytes;  ///< the build key's canonical bytes
  std::string target;            ///< the ISA, "amdgcn-amd-amdhsa--gfx950"
  std::string options;           ///< of the code generator, in a canonical order
  std::string generator;         ///< digest of the sources that emit the family's code
  std::string toolchain;         ///< the LLVM and comgr that compile it

  /// BLAKE3 of the fields' encoding under a prefix that names this use and its version.
  Digest digest() const;

  bool operator==(const Key&) const = default;
};

/// Not for disk: differs between releases. Cheap, since the fields that rarely differ are left to the comparison.
struct KeyHash {
  std::size_t operator()(const Key& key) const;
};

/// The fields as seven blobs, in the order of the struct.
void write_key(ByteWriter& writer, const Key& key);
Key read_key(ByteReader& reader);

/// "minimax_m3.k1{tokens=1,...} for amdgcn-amd-amdhsa--gfx950"
std::string describe(const Key& key);

}  // namespace monojit::cache
