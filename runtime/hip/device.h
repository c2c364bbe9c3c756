#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hip/table.h"

namespace monojit::runtime {

using Report = std::function<void(std::string_view)>;

/// One device of one provider.
class Device {
 public:
  /// `text` is "auto", "hip", "hip:N", "emulator" or "emulator:N". "auto" is the first AMD GPU, else the emulator;
  /// `say` is told when and why it became the emulator. Throws UserError when the text is none of these or the device
  /// isn't there.
  static Device open(std::string_view text, const Report& say);
  /// Device `ordinal` of `table`. Throws UserError naming how many there are when it isn't there.
  static Device at(std::shared_ptr<const HipTable> table, int ordinal);

  const HipTable& hip() const { return *table_; }
  const std::shared_ptr<const HipTable>& table() const { return table_; }
  int ordinal() const { return ordinal_; }
  bool emulated() const { return table_->provider() == Provider::kEmulator; }

  /// "hip:0", "emulator:0": what open() takes.
  std::string text() const;
  /// The product's name.
  const std::string& name() const { return name_; }
  /// "gfx950"
  const std::string& arch() const { return arch_; }
  /// Those that are there: fewer than the chip has on a partitioned GPU.
  int compute_units() const { return compute_units_; }
  /// Bytes.
  std::uint64_t memory() const { return memory_; }

  /// Makes this the calling thread's device, which HIP wants before every allocation, load or launch.
  void select() const;
  /// Lets kernels of this device reach the memory of `peer`. Throws UserError when the machine can't; does nothing when
  /// they do already.
  void enable_peer_access(const Device& peer) const;
  /// Waits for all work of the device.
  void synchronize() const;

 private:
  Device(std::shared_ptr<const HipTable> table, int ordinal);

  std::shared_ptr<const HipTable> table_;
  int ordinal_;
  std::string name_;
  std::string arch_;
  int compute_units_ = 0;
  std::uint64_t memory_ = 0;
};

/// How many devices the provider has; 0 when HIP finds none. Throws DeviceError when HIP fails otherwise.
int device_count(const HipTable& table);

/// Whether this machine can have an AMD GPU that HIP sees, found without loading HIP, or $MONOJIT_HIP_LIBRARY says to
/// look.
bool may_have_gpu();

}  // namespace monojit::runtime
