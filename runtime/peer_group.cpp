#include "runtime/peer_group.h"

#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/rank_reasons.h"

namespace monojit::runtime {
namespace {

constexpr std::uint32_t kMessageVersion = 2;

/// What a rank tells the others before they open its buffer; the reason behind it when it has none.
struct Offer {
  std::uint32_t version = kMessageVersion;
  std::int32_t rank = 0;
  kernels::PeerState state;
  hipIpcMemHandle_t handle{};
};
static_assert(std::is_trivially_copyable_v<Offer>);

using Message = std::vector<std::byte>;

Message message_of(const Offer& offer, const std::string& reason) {
  Message message(sizeof offer + reason.size());
  std::memcpy(message.data(), &offer, sizeof offer);
  std::memcpy(message.data() + sizeof offer, reason.data(), reason.size());
  return message;
}

/// Whether this rank has opened all buffers: never empty, as a message that never came is.
Message verdict_of(const std::string& reason) {
  Message message(sizeof(std::byte) + reason.size());
  std::memcpy(message.data() + sizeof(std::byte), reason.data(), reason.size());
  return message;
}

std::string reason_in(const Message& message, std::size_t from) {
  return {reinterpret_cast<const char*>(message.data()) + from, message.size() - from};
}

/// What `act` threw, as text; empty: nothing.
template <class Act>
std::string reason_of(Act&& act) {
  try {
    act();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

void refuse(const kernels::RankReasons& reasons) {
  if (!reasons.empty()) throw PeerGroupError(reasons.texts());
}

/// All ranks' messages; throws when one was not heard of, or there are too few or too many.
std::vector<Message> gathered(const Gather& gather, const Message& own, int ranks, std::chrono::milliseconds bound) {
  std::vector<Message> all = gather(own, bound);
  if (all.size() != static_cast<std::size_t>(ranks)) {
    throw PeerGroupError({fmt::format("the exchange gave {} messages for {} ranks", all.size(), ranks)});
  }
  kernels::RankReasons reasons;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].empty()) continue;
    reasons.add(static_cast<int>(rank),
                fmt::format("was not heard of (the bound is {} s): its process has ended, is stopped or hangs; see "
                            "what it said last, end it, and start all ranks anew",
                            std::chrono::duration<double>(bound).count()));
  }
  refuse(reasons);
  return all;
}

/// Why the offers make no group; the same on every rank that looks at them.
kernels::RankReasons objections(const std::vector<Message>& messages, std::vector<Offer>& offers) {
  kernels::RankReasons reasons;
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    const auto object = [&](std::string reason) { reasons.add(static_cast<int>(rank), std::move(reason)); };
    Offer& offer = offers.emplace_back();
    if (messages[rank].size() < sizeof offer) {
      object("its message is too short: another version of monojit?");
      continue;
    }
    std::memcpy(&offer, messages[rank].data(), sizeof offer);
    if (const std::string reason = reason_in(messages[rank], sizeof offer); !reason.empty()) object(reason);
    if (offer.version != kMessageVersion) object("another version of monojit");
    if (offer.rank != static_cast<std::int32_t>(rank)) object(fmt::format("takes itself for rank {}", offer.rank));
    if (offer.state != offers.front().state) {
      object("wants other sizes of scratch, health words or peer buffer than rank 0: another version of the kernels?");
    }
  }
  return reasons;
}

}  // namespace

PeerGroupError::PeerGroupError(std::vector<std::string> reasons)
    : std::runtime_error(fmt::format("the group of ranks can't be made: {}", fmt::join(reasons, "; "))),
      reasons_(std::move(reasons)) {}

PeerGroup PeerGroup::in_process(std::span<const Device> devices, const kernels::PeerState& state) {
  if (devices.size() != static_cast<std::size_t>(state.ranks)) {
    throw UserError(
        fmt::format("a group of {} ranks needs {} devices, not {}", state.ranks, state.ranks, devices.size()));
  }
  PeerGroup group(state);
  group.ranks_.reserve(devices.size());
  kernels::RankReasons reasons;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    std::string reason = reason_of([&] {
      for (const Device& peer : devices) devices[rank].enable_peer_access(peer);
      group.ranks_.emplace_back(devices[rank], static_cast<int>(rank), state);
    });
    if (!reason.empty()) reasons.add(static_cast<int>(rank), std::move(reason));
  }
  refuse(reasons);
  for (PeerRank& rank : group.ranks_) {
    for (const PeerRank& peer : group.ranks_) rank.set_peer(peer.rank(), peer.peer());
    rank.write_table();
  }
  return group;
}

PeerGroup PeerGroup::across_processes(const Device& device, int rank, const kernels::PeerState& state,
                                      const Gather& gather, std::chrono::milliseconds bound) {
  PeerGroup group(state);
  Offer offer{.rank = rank, .state = state};
  std::string reason = reason_of([&] {
    group.ranks_.emplace_back(device, rank, state);
    offer.handle = group.ranks_.front().handle();
  });
  std::vector<Offer> offers;
  refuse(objections(gathered(gather, message_of(offer, reason), state.ranks, bound), offers));

  reason = reason_of([&] {
    for (int peer = 0; peer < state.ranks; ++peer) {
      if (peer != rank) group.ranks_.front().map(peer, offers[static_cast<std::size_t>(peer)].handle);
    }
    group.ranks_.front().write_table();
  });
  // A rank that could not open another's buffer must not leave the others waiting in their first launch.
  kernels::RankReasons reasons;
  const std::vector<Message> verdicts = gathered(gather, verdict_of(reason), state.ranks, bound);
  for (std::size_t peer = 0; peer < verdicts.size(); ++peer) {
    std::string theirs = reason_in(verdicts[peer], sizeof(std::byte));
    if (!theirs.empty()) reasons.add(static_cast<int>(peer), std::move(theirs));
  }
  refuse(reasons);
  return group;
}

}  // namespace monojit::runtime
