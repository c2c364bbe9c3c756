#include "runtime/peer_rank.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace monojit::runtime {

PeerMapping::PeerMapping(const Device& device, const hipIpcMemHandle_t& handle) : table_(device.table()) {
  device.select();
  table_->check(table_->hipIpcOpenMemHandle(&address_, handle, hipIpcMemLazyEnablePeerAccess), "hipIpcOpenMemHandle");
}

PeerMapping::~PeerMapping() {
  if (address_ != nullptr) (void)table_->hipIpcCloseMemHandle(address_);
}

PeerMapping::PeerMapping(PeerMapping&& other) noexcept
    : table_(std::move(other.table_)), address_(std::exchange(other.address_, nullptr)) {}

PeerMapping& PeerMapping::operator=(PeerMapping&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(address_, other.address_);
  return *this;
}

PeerRank::PeerRank(const Device& device, int rank, const kernels::PeerState& state)
    : device_(device),
      rank_(rank),
      state_(state),
      scratch_(DeviceBuffer::zeroed(device, static_cast<std::size_t>(state.scratch_bytes))),
      health_(DeviceBuffer::zeroed(device, static_cast<std::size_t>(state.health_bytes))),
      epoch_(DeviceBuffer::zeroed(device, sizeof(std::int32_t))),
      peer_(DeviceBuffer::uncached(device, static_cast<std::size_t>(state.peer_bytes))),
      table_(device, static_cast<std::size_t>(state.ranks) * sizeof(std::uint64_t)),
      mappings_(static_cast<std::size_t>(state.ranks)),
      peers_(static_cast<std::size_t>(state.ranks)) {
  set_peer(rank, peer_.address());
  device.hip().check(device.hip().hipMemset(peer_.address(), 0, peer_.bytes()), "hipMemset");
  device.synchronize();  // fills may still be on their way, and others write here soon
}

hipIpcMemHandle_t PeerRank::handle() const {
  hipIpcMemHandle_t handle{};
  device_.select();
  device_.hip().check(device_.hip().hipIpcGetMemHandle(&handle, peer_.address()), "hipIpcGetMemHandle");
  return handle;
}

void PeerRank::map(int peer, const hipIpcMemHandle_t& handle) {
  PeerMapping& mapping = mappings_[static_cast<std::size_t>(peer)];
  mapping = PeerMapping(device_, handle);
  set_peer(peer, mapping.address());
}

void PeerRank::set_peer(int peer, void* address) { peers_[static_cast<std::size_t>(peer)] = address; }

void PeerRank::write_table() {
  std::vector<std::uint64_t> bases;
  for (void* const address : peers_) {
    bases.push_back(reinterpret_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(state_.peer_head));
  }
  device_.select();
  device_.hip().check(device_.hip().hipMemcpy(table_.address(), bases.data(), table_.bytes(), hipMemcpyHostToDevice),
                      "hipMemcpy");
}

void PeerRank::fill(ArgumentValues& values) const {
  namespace name = kernels::peer_argument;
  const std::pair<std::string_view, ArgumentValue> own[] = {
      {name::kScratch, scratch()},
      {name::kPeers, table_.address()},
      {name::kRank, static_cast<std::int32_t>(rank_)},
      {name::kEpoch, epoch()},
      {name::kHealth, health()},
      {name::kAlarm, static_cast<std::byte*>(alarms()) + static_cast<std::size_t>(rank_) * sizeof(std::int32_t)},
  };
  for (const auto& [argument, value] : own) {
    if (values.takes(argument)) values.set(argument, value);
  }
}

}  // namespace monojit::runtime
