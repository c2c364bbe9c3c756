#include "runtime/emulator/hip/process_group.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

constexpr u32 kMostPeers = 64;
constexpr u64 kPageMagic = 0x6d6f6e6f6a697432;
constexpr std::chrono::milliseconds kRefreshEvery{5};
// A process that says it works and shows no sign of life for so long hangs.
constexpr i64 kStalledNanoseconds = 5'000'000'000;
// A process without kernels none of whose threads has run for so long won't act before something happens.
constexpr std::chrono::milliseconds kAsleepAfter{1000};
constexpr u64 kRoundsToBelieve = 2;  // that a peer must have looked around after this process's last store

i64 now_nanoseconds() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// State letter and start time of a process; false if there is none.
bool read_stat(i32 pid, char& state, u64& start) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  char text[1024] = {};
  const std::size_t bytes = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* const name_end = bytes > 0 ? std::strrchr(text, ')') : nullptr;  // a name may hold anything
  unsigned long long ticks = 0;
  if (name_end == nullptr ||
      std::sscanf(name_end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
                  &ticks) != 2)
    return false;
  start = ticks;
  return true;
}

}  // namespace

ProcessId ProcessId::own() {
  ProcessId id{.pid = static_cast<i32>(getpid())};
  char state = 0;
  read_stat(id.pid, state, id.start);
  return id;
}

ProcessId::Life ProcessId::life() const {
  char state = 0;
  u64 started = 0;
  if (!read_stat(pid, state, started) || started != start || state == 'Z' || state == 'X') return Life::kEnded;
  if (state == 'T' || state == 't') return Life::kStopped;
  return state == 'S' ? Life::kAsleep : Life::kRunning;
}

std::optional<i64> ProcessId::processor_time() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::nanoseconds(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)).count();
}

int ProcessId::open_descriptor(int descriptor) const {
  if (!alive())
    throw Failure(FailureKind::kInvalidValue, fmt::format("process {}, which made the handle, is gone", pid));
  const int opened = open(fmt::format("/proc/{}/fd/{}", pid, descriptor).c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) {
    throw Failure(
        FailureKind::kInvalidValue,
        fmt::format("memory of process {}: {} (both processes must belong to one user, in one process namespace)", pid,
                    std::strerror(errno)));
  }
  return opened;
}

/// What a process tells the others.
struct ProcessGroup::Page {
  std::atomic<u64> magic;
  std::atomic<Outside> state;
  std::atomic<u64> progress;     ///< rounds in which something happened
  std::atomic<u64> idle_rounds;  ///< in a row
  std::atomic<i64> seen;         ///< when the engine last showed up, nanoseconds of the machine's monotonic clock
  std::atomic<u64> jumped;       ///< ticks that time jumped
  std::atomic<bool> failed;      ///< a device's work, and no launch succeeded there since
  struct Slot {
    std::atomic<u32> taken;
    std::atomic<u32> ready;
    i32 pid;
    i32 descriptor;
    u64 start;
  };
  Slot joined[kMostPeers];  ///< who maps this page, so that this process finds them
};

ProcessGroup::ProcessGroup() : own_(ProcessId::own()) {
  descriptor_ = memfd_create("monojit-emulator-process", MFD_CLOEXEC);
  if (descriptor_ < 0 || ftruncate(descriptor_, sizeof(Page)) != 0)
    throw Failure(FailureKind::kOutOfMemory, fmt::format("the page for other processes: {}", std::strerror(errno)));
  void* const memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED)
    throw Failure(FailureKind::kOutOfMemory, fmt::format("the page for other processes: {}", std::strerror(errno)));
  page_ = static_cast<Page*>(memory);
  page_->state = Outside::kPerhaps;
  page_->seen = now_nanoseconds();
  page_->magic = kPageMagic;
}

ProcessGroup::~ProcessGroup() {
  for (const Peer& peer : peers_) munmap(peer.page, sizeof(Page));
  munmap(page_, sizeof(Page));
  close(descriptor_);
}

void ProcessGroup::add(const ProcessId& process, int descriptor) {
  if (process == own_ || std::ranges::find(peers_, process, &Peer::id) != peers_.end()) return;
  const int opened = process.open_descriptor(descriptor);
  struct stat status{};
  void* const memory = fstat(opened, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(Page))
                           ? mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0)
                           : MAP_FAILED;
  close(opened);
  if (memory == MAP_FAILED || static_cast<Page*>(memory)->magic != kPageMagic) {
    if (memory != MAP_FAILED) munmap(memory, sizeof(Page));
    throw Failure(FailureKind::kInvalidValue,
                  fmt::format("process {} is not an emulator of this version", process.pid));
  }
  Page* const page = static_cast<Page*>(memory);
  peers_.push_back({.id = process, .page = page, .jump_base = page->jumped - page_->jumped});
  waiting_ = false;
  for (Page::Slot& slot : peers_.back().page->joined) {
    u32 free = 0;
    if (!slot.taken.compare_exchange_strong(free, 1)) continue;
    slot.pid = own_.pid;
    slot.start = own_.start;
    slot.descriptor = descriptor_;
    slot.ready = 1;
    return;
  }
}

void ProcessGroup::join(const ProcessId& process, int descriptor) {
  const std::lock_guard lock(mutex_);
  add(process, descriptor);
}

/// Finds the processes that joined this one, and those that they share memory with; and who has died.
void ProcessGroup::refresh() {
  if (Clock::now() < refreshed_ + kRefreshEvery) return;
  refreshed_ = Clock::now();
  std::vector<const Page*> pages{page_};
  for (const Peer& peer : peers_) pages.push_back(peer.page);
  for (const Page* page : pages) {
    for (const Page::Slot& slot : page->joined) {
      const ProcessId id{slot.pid, slot.start};
      if (slot.ready == 0 || !id.alive()) continue;
      try {
        add(id, slot.descriptor);
      } catch (const Failure&) {  // it ended just now
        continue;
      }
    }
  }
  for (Peer& peer : peers_) {
    if (peer.life == ProcessId::Life::kEnded) continue;
    peer.life = peer.id.life();
    const auto used = peer.id.processor_time();
    if (peer.life != ProcessId::Life::kAsleep || !used || used != peer.processor_time) peer.quiet_since = refreshed_;
    peer.processor_time = used;
  }
}

void ProcessGroup::note_working() {
  page_->state = Outside::kWorking;
  page_->idle_rounds = 0;
  ++page_->progress;
  page_->seen = now_nanoseconds();
  waiting_ = false;
}

void ProcessGroup::note_idle(Outside own, bool for_time) {
  page_->state = own == Outside::kNobody && for_time ? Outside::kTime : own;
  ++page_->idle_rounds;
  page_->seen = now_nanoseconds();
}

void ProcessGroup::note_no_kernels() {
  page_->state = Outside::kPerhaps;
  ++page_->progress;
  page_->idle_rounds = 0;
  page_->seen = now_nanoseconds();
}

void ProcessGroup::note_failed(bool failed) { page_->failed = failed; }

/// Its host may launch or copy something, unless it waits for something itself. One whose work has failed waits for the
/// others to find out; of another one can't know.
Outside ProcessGroup::without_kernels(const Peer& peer) {
  if (Clock::now() < peer.quiet_since + kAsleepAfter) return Outside::kPerhaps;
  return peer.page->failed ? Outside::kNobody : Outside::kTime;
}

/// A peer's kernels only count as waiting when they have looked around since this process's kernels last did anything.
Outside ProcessGroup::state_of(Peer& peer, bool restart) const {
  if (peer.life == ProcessId::Life::kEnded) return Outside::kNobody;
  if (peer.life == ProcessId::Life::kStopped) return Outside::kPerhaps;
  const Page& page = *peer.page;
  const u64 progress = page.progress, idle_rounds = page.idle_rounds;
  const Outside state = page.state;
  if (restart || progress != peer.progress || idle_rounds < peer.idle_rounds) {
    peer.progress = progress;
    peer.idle_rounds = idle_rounds;
    return state == Outside::kPerhaps ? state : Outside::kWorking;
  }
  if (state == Outside::kWorking)
    return now_nanoseconds() - page.seen > kStalledNanoseconds ? Outside::kPerhaps : state;
  if (state == Outside::kPerhaps) return without_kernels(peer);
  if (now_nanoseconds() - page.seen > kStalledNanoseconds) return Outside::kPerhaps;
  return idle_rounds >= peer.idle_rounds + kRoundsToBelieve ? state : Outside::kWorking;
}

Outside ProcessGroup::look() {
  const std::lock_guard lock(mutex_);
  refresh();
  Outside most = Outside::kNobody;
  const bool restart = !waiting_;
  waiting_ = true;
  for (Peer& peer : peers_) most = std::max(most, state_of(peer, restart));
  return most;
}

void ProcessGroup::note_jump(u64 ticks) { page_->jumped += ticks; }

u64 ProcessGroup::jumped_elsewhere() {
  const std::lock_guard lock(mutex_);
  u64 ahead = 0;
  for (const Peer& peer : peers_) {
    const i64 difference = static_cast<i64>(peer.page->jumped - peer.jump_base - page_->jumped);
    ahead = std::max(ahead, static_cast<u64>(std::max<i64>(difference, 0)));
  }
  page_->jumped += ahead;
  return ahead;
}

std::string ProcessGroup::describe() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const Peer& peer : peers_) {
    text += fmt::format("\n process {}, which shares memory with this one, {}", peer.id.pid,
                        peer.life == ProcessId::Life::kEnded ? "has ended"
                        : peer.page->failed                  ? "waits after a failure of its own"
                                                             : "only waits too");
  }
  return text;
}

}  // namespace monojit::emulator
