#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/family.h"

namespace monojit::kernels {

enum class DType : std::uint8_t { kUint8, kInt32, kInt64, kBFloat16, kFloat32, kFp8 };

/// A host tensor. `bytes` holds the elements in row-major order, little-endian.
struct Tensor {
  std::string name;  ///< the argument's name; scalars too (int32, shape [1])
  DType dtype = DType::kUint8;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// How one output of a kernel compared with the host reference.
struct Comparison {
  std::string name;
  std::size_t elements = 0;
  std::size_t mismatches = 0;  ///< elements whose bits differ from the reference
  double max_error = 0;        ///< largest distance from the order-free wide reference, in units of the output
  double bound = 0;            ///< what max_error may be at most
  bool ok = false;
};

/// What the results depend on besides the arch.
struct DeviceTraits {
  /// How the matrix core adds up, as reference::matrix_model() names it. cdna3 stands for every real GPU.
  std::string matrix_model = "cdna3";
};

/// How the next layer's launch differs from a launch's, as an engine makes them: on the same buffers, nothing cleared.
struct Advance {
  /// Arguments that trade buffers: the residual stream that one layer wrote is what the next one reads.
  std::vector<std::pair<std::string, std::string>> swaps;
  /// Arguments that hold something else then, after the swaps: a scalar's number, or all of a buffer.
  std::vector<Tensor> changes;
};

/// Data for one kernel and what must come out of it: the host reference, written from the specification alone.
class Workload {
 public:
  virtual ~Workload() = default;
  /// One tensor for every argument, in the order of the argument list.
  virtual std::vector<Tensor> generate(const BuildKey& key, std::string_view arch, std::uint64_t seed) const = 0;
  /// Throws UserError when tensors (some replaced by the user's) don't have the dtype, shape or values that the key
  /// demands.
  virtual void check(const BuildKey& key, std::string_view arch, const std::vector<Tensor>& tensors) const = 0;
  /// Compares the tensors after a launch on a device with these traits, `after`, with the reference applied to those
  /// before it.
  virtual std::vector<Comparison> compare(const BuildKey& key, std::string_view arch, const DeviceTraits& traits,
                                          const std::vector<Tensor>& before,
                                          const std::vector<Tensor>& after) const = 0;

  /// From a launch's tensors to those of the next layer. Throws UserError when launches of this family don't follow one
  /// another.
  virtual Advance advance(const BuildKey& key, const std::vector<Tensor>& tensors) const;
  /// Which launch of a model this is, as names and numbers: step 5, layer 17. Empty: the family has no such notion.
  virtual std::vector<std::pair<std::string, std::int64_t>> place(const BuildKey& key,
                                                                  const std::vector<Tensor>& tensors) const;
  /// Bytes of weights that a launch on these tensors has to read at least. Nothing: the family has no weights.
  virtual std::optional<std::int64_t> weight_bytes(const BuildKey& key, const std::vector<Tensor>& tensors) const;
};

/// Makes the tensors after a launch those before the next one.
void apply(const Advance& advance, std::vector<Tensor>& tensors);

/// The workload of a family. Throws UserError when it has none.
const Workload& workload(const Family& family);

}  // namespace monojit::kernels
