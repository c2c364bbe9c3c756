#include "runtime/fail_stop.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace monojit::runtime {
namespace {

std::vector<std::uint32_t> words_at(const Device& device, const void* address, std::size_t count) {
  std::vector<std::uint32_t> words(count);
  device.select();
  device.hip().check(device.hip().hipMemcpy(words.data(), address, count * sizeof words[0], hipMemcpyDeviceToHost),
                     "hipMemcpy");
  return words;
}

}  // namespace

std::vector<std::uint32_t> read_health(const PeerRank& rank) {
  return words_at(rank.device(), rank.health(), rank.health_bytes() / sizeof(std::uint32_t));
}

std::vector<std::uint32_t> read_alarms(const PeerRank& rank) {
  return words_at(rank.device(), rank.alarms(), rank.peers().size());
}

FailStop::FailStop(const PeerRank& rank, std::vector<WatchedLaunch> launches)
    : rank_(rank), launches_(std::move(launches)) {
  const HipTable& hip = rank_.device().hip();
  rank_.device().select();
  void* word = nullptr;
  hip.check(hip.hipHostMalloc(&word, sizeof *word_, hipHostMallocDefault), "hipHostMalloc");
  word_ = static_cast<std::uint32_t*>(word);
  *word_ = 0;
  const hipError_t made = hip.hipEventCreateWithFlags(&landed_, hipEventDisableTiming);
  if (made != hipSuccess) (void)hip.hipHostFree(word_);
  hip.check(made, "hipEventCreateWithFlags");
}

FailStop::~FailStop() {
  const HipTable& hip = rank_.device().hip();
  if (asked_) (void)hip.hipEventSynchronize(landed_);  // the copy writes to the word
  (void)hip.hipEventDestroy(landed_);
  (void)hip.hipHostFree(word_);
}

void FailStop::look() {
  if (!asked_ || failed_) return;
  const HipTable& hip = rank_.device().hip();
  const hipError_t state = hip.hipEventQuery(landed_);
  if (state == hipErrorNotReady) return;
  hip.check(state, "hipEventQuery");
  asked_ = false;
  failed_ = *static_cast<volatile std::uint32_t*>(word_) != 0;
}

bool FailStop::watch(hipStream_t stream) {
  look();
  if (failed_ || asked_) return failed_;
  const HipTable& hip = rank_.device().hip();
  hip.check(hip.hipMemcpyAsync(word_, rank_.health(), sizeof *word_, hipMemcpyDeviceToHost, stream), "hipMemcpyAsync");
  hip.check(hip.hipEventRecord(landed_, stream), "hipEventRecord");
  asked_ = true;
  return false;
}

const std::optional<std::string>& FailStop::poll_error() {
  look();
  if (!failed_ || error_) return error_;
  error_ = explain_rank(rank_.rank(), read_health(rank_), launches_)
               .value_or(fmt::format("rank {}: a wait gave up, but its health words were zeroed before they were read",
                                     rank_.rank()));
  if (const std::string flags = explain_alarms(read_alarms(rank_)); !flags.empty()) *error_ += '\n' + flags;
  return error_;
}

}  // namespace monojit::runtime
