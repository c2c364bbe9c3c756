#include "tools/warm/warmer.h"

#include <algorithm>
#include <exception>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "runtime/entry_check.h"
#include "tools/entry_use.h"

namespace monojit::tools {
namespace {

runtime::JitOptions with_builder(runtime::JitOptions options, std::shared_ptr<runtime::KernelBuilder> builder,
                                 const std::atomic<bool>& cancelled) {
  options.builder = std::move(builder);
  options.interrupt = [&cancelled] {
    if (cancelled) throw runtime::CancelledError("cancelled");
  };
  return options;
}

}  // namespace

Warmer::Warmer(runtime::JitOptions options, const WarmPlan& plan, const WarmSettings& settings, Changed changed)
    : plan_(plan),
      settings_(settings),
      changed_(std::move(changed)),
      workers_(std::make_shared<runtime::WorkerCompiler>(settings.worker)),
      has_remote_(!options.cache_settings.remote.empty()),
      jit_(with_builder(std::move(options), workers_, cancelled_)),
      results_(plan.jobs.size()) {}

std::size_t Warmer::missing() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan_.jobs, [&](const WarmJob& job) { return !cancelled_ && !jit_.contains(std::span(&job.key, 1), job.arch); }));
}

void Warmer::run(const std::function<void(std::size_t missing)>& planned) {
  step_ = has_remote_ ? "a look at what is there already (the remote cache is asked, too)"
                      : "a look at what is there already";
  const std::size_t to_build = missing();
  if (cancelled_) return;
  planned(to_build);
  step_ = "the start of the workers";
  open_compilers(std::min(to_build, static_cast<std::size_t>(settings_.jobs)));
  step_ = "the end";
  std::vector<std::jthread> threads;
  for (int i = 1; i < settings_.jobs; ++i) threads.emplace_back([this] { work(); });
  work();
}

/// Opening one takes as long as a few builds, so the workers do it at the same time.
void Warmer::open_compilers(std::size_t count) {
  std::vector<std::future<std::string>> opened;
  opened.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    opened.push_back(std::async(std::launch::async, [this] { return workers_->toolchain(); }));
  }
  for (auto& each : opened) {
    try {
      (void)each.get();
    } catch (const runtime::WorkerError&) {     // the job that wants a worker tries again
    } catch (const runtime::CancelledError&) {  // no job is started
    }
  }
}

void Warmer::cancel() {
  cancelled_ = true;
  workers_->cancel();
}

void Warmer::work() {
  for (std::size_t job = next_++; job < plan_.jobs.size() && !cancelled_; job = next_++) attempt(job);
}

void Warmer::attempt(std::size_t job) {
  WarmResult result;
  result.state = WarmState::kBuilding;
  set(job, result);
  while (!cancelled_ && !try_once(job, result) && result.attempts <= settings_.retries) continue;
  if (result.state == WarmState::kBuilding) result.state = WarmState::kNotStarted;
  set(job, std::move(result));
}

/// False: another attempt may help.
bool Warmer::try_once(std::size_t job, WarmResult& result) {
  ++result.attempts;
  const WarmJob& wanted = plan_.jobs[job];
  try {
    result.obtained = get_loadable(jit_, wanted.key, wanted.arch);
    const bool built = result.obtained.source == cache::Source::kBuilt;
    result.state = built ? WarmState::kBuilt : WarmState::kHit;
    if (!built || result.obtained.stored) return true;
    result.state = WarmState::kFailed;
    result.error = fmt::format("{} was built, but could not be stored", wanted.key.text());
    return true;
  } catch (const runtime::CancelledError&) {
    result.state = WarmState::kNotStarted;
    return true;
  } catch (const runtime::WorkerError& error) {
    // A cancellation kills workers too.
    result.state = cancelled_ ? WarmState::kNotStarted : WarmState::kFailed;
    result.error = error.what();
    return cancelled_;
  } catch (const std::exception& error) {
    result.state = WarmState::kFailed;
    result.error = error.what();
    return true;
  }
}

void Warmer::set(std::size_t job, WarmResult result) {
  const std::scoped_lock lock(mutex_);
  results_[job] = std::move(result);
  changed_(job, results_[job]);
}

void Warmer::observe(const std::function<void(const std::vector<WarmResult>&, const WarmCounts&)>& look) const {
  const std::scoped_lock lock(mutex_);
  look(results_, counts());
}

WarmCounts Warmer::counts() const {
  WarmCounts counts;
  for (const WarmResult& result : results_) {
    switch (result.state) {
      case WarmState::kNotStarted:
        ++counts.not_started;
        break;
      case WarmState::kBuilding:
        ++counts.building;
        break;
      case WarmState::kBuilt:
        ++counts.built;
        break;
      case WarmState::kHit:
        ++counts.hit;
        break;
      case WarmState::kFailed:
        ++counts.failed;
        break;
    }
  }
  return counts;
}

std::vector<StrictProblem> strict_problems(const runtime::JitOptions& options, const WarmPlan& plan) {
  runtime::JitOptions strict = options;
  strict.strict = true;
  runtime::Jit jit(strict);
  std::vector<StrictProblem> problems;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const WarmJob& job = plan.jobs[i];
    try {
      // By way of the store alone, this look does not count as a use: statistics tell of those.
      const auto entry = jit.disk()->lookup(jit.cache_key(job.key, job.arch));
      if (entry != nullptr && runtime::entry_problem(job.key, job.arch, *entry).empty()) continue;
      (void)jit.get(job.key, job.arch);  // from a folder or store below the user's, or why not
    } catch (const std::exception& error) {
      problems.push_back({i, error.what()});
    }
  }
  return problems;
}

}  // namespace monojit::tools
