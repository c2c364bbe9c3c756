#include "runtime/peer_group.h"

#include <bit>
#include <cstdint>

namespace monojit::runtime {
namespace {

constexpr std::size_t kAlarmBytes = sizeof(std::int32_t);

DeviceBuffer zeroed(DeviceBuffer buffer, const Device& device) {
  device.select();
  device.hip().check(device.hip().hipMemset(buffer.address(), 0, buffer.bytes()), "hipMemset");
  return buffer;
}

}  // namespace

PeerGroup::PeerGroup(std::span<const Device> devices, const PeerSizes& sizes)
    : devices_(devices.begin(), devices.end()) {
  for (const Device& device : devices_) {
    for (const Device& peer : devices_) device.enable_peer_access(peer);
    ranks_.push_back({.scratch = zeroed(DeviceBuffer(device, sizes.scratch), device),
                      .health = zeroed(DeviceBuffer(device, sizes.health), device),
                      .epoch = zeroed(DeviceBuffer(device, sizeof(std::int32_t)), device),
                      .peer = zeroed(DeviceBuffer::uncached(device, sizes.peer), device),
                      .table = {}});
  }
  std::vector<std::uint64_t> bases;
  for (const Rank& rank : ranks_) bases.push_back(std::bit_cast<std::uint64_t>(rank.peer.address()) + sizes.peer_head);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].table = DeviceBuffer(devices_[i], std::as_bytes(std::span(bases)));
  }
}

void* PeerGroup::alarm(std::size_t rank) const { return static_cast<std::byte*>(peer(0)) + rank * kAlarmBytes; }

void PeerGroup::set_epoch(std::int32_t epoch) const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    devices_[i].select();
    const HipTable& hip = devices_[i].hip();
    hip.check(hip.hipMemcpy(ranks_[i].epoch.address(), &epoch, sizeof epoch, hipMemcpyHostToDevice), "hipMemcpy");
  }
}

std::vector<std::size_t> PeerGroup::alarms() const {
  std::vector<std::int32_t> words(ranks_.size());
  const HipTable& hip = devices_[0].hip();
  devices_[0].select();
  hip.check(hip.hipMemcpy(words.data(), peer(0), words.size() * kAlarmBytes, hipMemcpyDeviceToHost), "hipMemcpy");
  std::vector<std::size_t> raised;
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    if (words[rank] != 0) raised.push_back(rank);
  }
  return raised;
}

}  // namespace monojit::runtime
