#include "runtime/hip/device.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "environment/variables.h"
#include "kernels/common/error.h"
#include "runtime/hip/device_error.h"

namespace monojit::runtime {
namespace {

constexpr std::string_view kSyntax = "use auto, hip, hip:N, emulator or emulator:N";

struct Choice {
  Provider provider;
  int ordinal;
};

Choice parse_choice(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view provider = text.substr(0, colon);
  Choice choice{provider == "hip" ? Provider::kHip : Provider::kEmulator, 0};
  if (provider != "hip" && provider != "emulator") {
    throw UserError(fmt::format("unknown device '{}': {}", text, kSyntax));
  }
  if (colon == std::string_view::npos) return choice;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), choice.ordinal);
  if (error != std::errc() || end != digits.data() + digits.size() || choice.ordinal < 0) {
    throw UserError(fmt::format("device '{}': '{}' is no device number; {}", text, digits, kSyntax));
  }
  return choice;
}

/// A GPU that doesn't start is broken; the emulator is only set up in a way that it can't follow, and says which.
void check_started(const HipTable& table, hipError_t started) {
  if (started != hipSuccess && table.provider() == Provider::kEmulator) {
    if (const std::string reason = table.last_fault(); !reason.empty()) throw UserError(reason);
  }
  table.check(started, "hipInit");
}

/// The first real GPU, or why there is none.
std::optional<Device> first_gpu(std::string& reason) {
  if (!may_have_gpu()) return reason = "there is no /dev/kfd", std::nullopt;
  // A library that the user chose has to work; one that was merely looked for may be missing.
  const char* chosen = environment::value(environment::Id::kHipLibrary);
  try {
    const std::shared_ptr<const HipTable> table = HipTable::open(Provider::kHip);
    if (device_count(*table) > 0) return Device::at(table, 0);
    reason = table->library() + " finds no device";
  } catch (const UserError& error) {
    if (chosen != nullptr) throw;
    reason = error.what();
  }
  return std::nullopt;
}

}  // namespace

bool may_have_gpu() {
  if (environment::value(environment::Id::kHipLibrary) != nullptr) return true;
  std::error_code error;
  // The second is how the Linux subsystem of Windows shows its GPUs.
  return std::filesystem::exists("/dev/kfd", error) || std::filesystem::exists("/dev/dxg", error);
}

int device_count(const HipTable& table) {
  const hipError_t started = table.hipInit(0);
  if (started == hipErrorNoDevice) return 0;
  check_started(table, started);
  int count = 0;
  const hipError_t counted = table.hipGetDeviceCount(&count);
  if (counted == hipErrorNoDevice) return 0;
  table.check(counted, "hipGetDeviceCount");
  return count;
}

Device Device::open(std::string_view text, const Report& say) {
  if (text == "auto") {
    std::string reason;
    if (std::optional<Device> gpu = first_gpu(reason)) return *std::move(gpu);
    say(fmt::format("no AMD GPU here ({}): using the emulator", reason));
    return at(HipTable::open(Provider::kEmulator), 0);
  }
  const Choice choice = parse_choice(text);
  return at(HipTable::open(choice.provider), choice.ordinal);
}

Device Device::at(std::shared_ptr<const HipTable> table, int ordinal) {
  const int count = device_count(*table);
  if (ordinal >= count) {
    const bool emulated = table->provider() == Provider::kEmulator;
    throw UserError(fmt::format("device {}:{} is not there: {} has {} device{}{}", emulated ? "emulator" : "hip",
                                ordinal, table->library(), count, count == 1 ? "" : "s",
                                emulated ? "" : " (--device emulator needs no GPU)"));
  }
  return Device(std::move(table), ordinal);
}

Device::Device(std::shared_ptr<const HipTable> table, int ordinal) : table_(std::move(table)), ordinal_(ordinal) {
  hipDeviceProp_tR0600 properties{};
  table_->check(table_->hipGetDevicePropertiesR0600(&properties, ordinal), "hipGetDeviceProperties");
  name_ = properties.name;
  const std::string_view full_arch = properties.gcnArchName;  // "gfx950:sramecc+:xnack-"
  arch_ = full_arch.substr(0, full_arch.find(':'));
  compute_units_ = properties.multiProcessorCount;
  memory_ = properties.totalGlobalMem;
}

std::string Device::text() const { return fmt::format("{}:{}", emulated() ? "emulator" : "hip", ordinal_); }

void Device::select() const { table_->check(table_->hipSetDevice(ordinal_), "hipSetDevice"); }

void Device::enable_peer_access(const Device& peer) const {
  if (peer.ordinal() == ordinal_) return;
  int can = 0;
  table_->check(table_->hipDeviceCanAccessPeer(&can, ordinal_, peer.ordinal()), "hipDeviceCanAccessPeer");
  if (can == 0) throw UserError(fmt::format("device {} can't reach the memory of {}", text(), peer.text()));
  select();
  const hipError_t code = table_->hipDeviceEnablePeerAccess(peer.ordinal(), 0);
  if (code != hipErrorPeerAccessAlreadyEnabled) table_->check(code, "hipDeviceEnablePeerAccess");
}

void Device::synchronize() const {
  select();
  table_->check(table_->hipDeviceSynchronize(), "hipDeviceSynchronize");
}

}  // namespace monojit::runtime
