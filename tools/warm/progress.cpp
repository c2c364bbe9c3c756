#include "tools/warm/progress.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/report.h"

namespace monojit::tools {
namespace {

constexpr std::chrono::milliseconds kRedraw(100);
constexpr std::chrono::seconds kRemind(10);
constexpr std::size_t kBarCells = 24;
constexpr std::size_t kUsualColumns = 80;
constexpr const char* kClearLine = "\r\x1b[K";

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

void put_on_terminal(const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

std::string line_of(const WarmJob& job, const runtime::Obtained& obtained) {
  const runtime::GetTimes& times = obtained.times_ms;
  if (obtained.source != cache::Source::kBuilt)
    return fmt::format("{} for {}: there already", job.key.text(), job.arch);
  return fmt::format("{} for {}: built in {:.1f} ms (emit {:.1f}, codegen {:.1f}, link {:.1f}), stored in {:.1f} ms",
                     job.key.text(), job.arch, times.emit + times.codegen + times.link, times.emit, times.codegen,
                     times.link, times.store);
}

}  // namespace

WarmProgress::WarmProgress(const WarmPlan& plan, bool quiet)
    : plan_(plan), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void WarmProgress::finish() {
  if (drawn_) put_on_terminal(kClearLine);
  drawn_ = false;
}

void WarmProgress::say_above(const std::string& text) {
  finish();
  say(text);
}

void WarmProgress::tell(std::size_t job, const WarmResult& result) {
  if (result.state == WarmState::kFailed) {
    say_above(fmt::format("{} for {} failed: {}", plan_.jobs[job].key.text(), plan_.jobs[job].arch, result.error));
  } else if (!quiet_ && !terminal_ && (result.state == WarmState::kBuilt || result.state == WarmState::kHit)) {
    print("{}\n", line_of(plan_.jobs[job], result.obtained));
  }
}

void WarmProgress::show(const std::vector<WarmResult>& results, const WarmCounts& counts, std::string_view step) {
  const auto now = Clock::now();
  if (terminal_) {
    if (now - last_shown_ < kRedraw && drawn_) return;
    draw(counts, at_work(results, step));
  } else if (now - last_shown_ >= kRemind) {
    say(fmt::format("{} of {} kernels done after {} s, now at {}", counts.done(), plan_.jobs.size(),
                    std::chrono::duration_cast<std::chrono::seconds>(now - start_).count(), at_work(results, step)));
  } else {
    return;
  }
  last_shown_ = now;
}

std::string WarmProgress::at_work(const std::vector<WarmResult>& results, std::string_view step) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].state == WarmState::kBuilding)
      texts.push_back(plan_.jobs[i].key.text() + " for " + plan_.jobs[i].arch);
  }
  return texts.empty() ? std::string(step) : fmt::format("{}", fmt::join(texts, ", "));
}

void WarmProgress::draw(const WarmCounts& counts, const std::string& at_work) {
  const std::size_t filled = counts.done() * kBarCells / std::max<std::size_t>(plan_.jobs.size(), 1);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {}/{}, built {}, hit {}, failed {}, {}:{:02} ", "", filled, "",
                                 kBarCells - filled, counts.done(), plan_.jobs.size(), counts.built, counts.hit,
                                 counts.failed, seconds / 60, seconds % 60);
  line += at_work;
  line.resize(std::min(line.size(), columns() - 1));
  put_on_terminal(kClearLine + line);
  drawn_ = true;
}

}  // namespace monojit::tools
