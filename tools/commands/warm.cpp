#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

#include "runtime/peak_memory.h"
#include "tools/commands/commands.h"
#include "tools/interruptible.h"
#include "tools/kernel_run.h"
#include "tools/session.h"
#include "tools/warm/plan.h"
#include "tools/warm/progress.h"
#include "tools/warm/strict_problems.h"
#include "tools/warm/warmer.h"

namespace monojit::tools {
namespace {

struct Options {
  std::vector<std::string> keys;
  std::vector<std::string> models;
  std::string file;
  std::vector<std::string> archs;
  std::string cache_folder;
  std::string shard = "0/1";
  int jobs = 0;  ///< 0: the processors that this process may use
  double timeout_s = 600;
  int retries = 1;
  std::uint64_t memory_mib = 4096;
  bool list = false;
  bool json = false;
};

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;
constexpr double kLeastSeconds = 0.1;
constexpr double kMostSeconds = 86'400;

int processors() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(CPU_COUNT(&allowed), 1) : 1;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// As CLI::Range, which lets "nan" pass.
CLI::Validator seconds_between(double least, double most) {
  return {[least, most](const std::string& text) {
            double value = 0;
            const bool fine = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
            return fine ? std::string() : fmt::format("'{}' is no number of seconds from {} to {}", text, least, most);
          },
          ""};
}

WarmPlan plan_of(const Options& options) {
  std::vector<WarmWish> wishes;
  for (const std::string& key : options.keys) wishes.push_back({.pattern = key, .model = {}, .archs = {}, .place = {}});
  for (const std::string& model : options.models) {
    wishes.push_back({.pattern = {}, .model = model, .archs = {}, .place = {}});
  }
  if (!options.file.empty()) std::ranges::move(read_job_file(options.file), std::back_inserter(wishes));
  if (wishes.empty()) throw UserError("warm: name what to warm: a KEY or pattern, --model or --file");
  const Shard shard = parse_shard(options.shard);
  WarmPlan plan = make_plan(wishes, options.archs.empty() ? std::vector{build_arch({})} : options.archs);
  keep_shard(plan, shard);
  for (const std::string& remark : plan.remarks) say(remark);
  return plan;
}

void list(const WarmPlan& plan, bool as_json) {
  Json jobs = Json::array();
  for (const WarmJob& job : plan.jobs) {
    jobs.push_back({{"key", job.key.text()}, {"arch", job.arch}});
    if (!as_json) print("{} {}\n", job.arch, job.key.text());
  }
  if (as_json) print_json({{"jobs", jobs}});
}

WarmSettings settings_of(const Options& options, std::size_t jobs) {
  WarmSettings settings;
  const std::size_t wanted = options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : processors();
  settings.jobs = static_cast<int>(std::clamp<std::size_t>(jobs, 1, wanted));
  settings.retries = options.retries;
  settings.worker.jobs = settings.jobs;
  settings.worker.deadline = milliseconds(options.timeout_s);
  settings.worker.memory_bytes = options.memory_mib * kMebi;
  return settings;
}

Json to_json(const WarmJob& job, const WarmResult& result) {
  Json json = {{"key", job.key.text()},
               {"arch", job.arch},
               {"cache", nullptr},
               {"attempts", result.attempts},
               {"error", nullptr}};
  if (result.state == WarmState::kFailed) json["error"] = result.error;
  if (result.state != WarmState::kBuilt && result.state != WarmState::kHit) return json;
  const runtime::GetTimes& times = result.obtained.times_ms;
  json["cache"] = cache::name(result.obtained.source);
  json["times_ms"] = {{"emit", times.emit}, {"codegen", times.codegen}, {"link", times.link}, {"store", times.store}};
  json["resources"] = resources_json(result.obtained.kernel->record.resources);
  return json;
}

std::uint64_t stored_bytes(const WarmPlan& plan, Warmer& warmer) {
  std::uint64_t bytes = 0;
  for (const WarmJob& job : plan.jobs) {
    std::error_code error;
    const auto file = warmer.jit().disk()->file_of(warmer.jit().cache_key(job.key, job.arch).digest());
    if (const auto size = std::filesystem::file_size(file, error); !error) bytes += size;
  }
  return bytes;
}

struct Outcome {
  WarmCounts counts;
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::vector<StrictProblem> strict_problems;

  /// A signal that came when every job was done has interrupted nothing.
  bool interrupted() const { return counts.not_started > 0; }
};

Json report(const WarmPlan& plan, Warmer& warmer, const Outcome& outcome) {
  Json kernels = Json::array();
  std::vector<std::string> archs;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    kernels.push_back(to_json(plan.jobs[i], warmer.results()[i]));
    if (std::ranges::find(archs, plan.jobs[i].arch) == archs.end()) archs.push_back(plan.jobs[i].arch);
  }
  return {{"arch", archs.size() == 1 ? Json(archs[0]) : Json(nullptr)},
          {"archs", archs},
          {"folder", warmer.jit().disk()->folder().string()},
          {"kernels", kernels},
          {"summary",
           {{"jobs", plan.jobs.size()},
            {"built", outcome.counts.built},
            {"hit", outcome.counts.hit},
            {"failed", outcome.counts.failed},
            {"not_started", outcome.counts.not_started},
            {"seconds", outcome.seconds},
            {"bytes", outcome.bytes},
            {"peak_bytes", runtime::peak_memory()},
            {"peak_worker_bytes", warmer.peak_worker_bytes()},
            {"strict_ready", outcome.strict_problems.empty()}}}};
}

void print_summary(const WarmPlan& plan, const Warmer& warmer, const Outcome& outcome) {
  const WarmCounts& counts = outcome.counts;
  print("built {}, hit {}, failed {}{} in {:.1f} s; {} bytes in the cache", counts.built, counts.hit, counts.failed,
        counts.not_started > 0 ? fmt::format(", not started {}", counts.not_started) : "", outcome.seconds,
        outcome.bytes);
  if (const std::uint64_t peak = warmer.peak_worker_bytes(); peak > 0)
    print("; workers had {} MiB at most", peak / kMebi);
  if (plan.jobs.empty()) {
    print("; this shard has no job\n");
  } else {
    print("{}\n", outcome.strict_problems.empty() ? "; strict mode serves every job" : "");
  }
}

/// Runs the warmer with its progress shown; SIGINT and SIGTERM cancel it.
void run(Warmer& warmer, WarmProgress& progress, std::mutex& shown, std::size_t jobs, int at_a_time) {
  const std::jthread watcher([&](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kTick(50);
    std::mutex idle;
    std::condition_variable_any tick;  // nobody but the request to stop ends a wait early
    while (!stop.stop_requested()) {
      std::unique_lock waiting(idle);
      tick.wait_for(waiting, stop, kTick, [] { return false; });
      if (Interruptible::interrupted() && !warmer.cancelled()) warmer.cancel();
      warmer.observe([&](const std::vector<WarmResult>& results, const WarmCounts& counts) {
        const std::scoped_lock lock(shown);
        progress.show(results, counts, warmer.step());
      });
    }
  });
  warmer.run([&](std::size_t missing) {
    if (missing == 0) return;
    const std::scoped_lock lock(shown);
    progress.say_above(fmt::format("{} of {} kernels are to be built, {} at a time", missing, jobs, at_a_time));
  });
}

runtime::JitOptions jit_options(const Options& options, const runtime::Report& say_above) {
  runtime::JitOptions jit;
  jit.cache_folder = cache_folder(options.cache_folder);
  jit.warn = say_above;
  jit.progress = say_above;
  jit.longest_wait = milliseconds(options.timeout_s);
  jit.cache_settings = cache::Settings::from_environment(cache::Warnings(say_above));
  if (jit.cache_folder.empty()) {
    throw UserError("there is no cache to warm (set MONOJIT_CACHE_DIR, or use --cache-dir)");
  }
  return jit;
}

void conclude(const Options& options, const WarmPlan& plan, Warmer& warmer, const Outcome& outcome,
              const cache::Limits& limits) {
  if (options.json) {
    print_json(report(plan, warmer, outcome));
  } else {
    print_summary(plan, warmer, outcome);
  }
  (void)finish_output();  // what went wrong is told in the end
  if (outcome.interrupted()) {
    say("interrupted: the same command goes on where it stopped");
  } else if (outcome.counts.failed == 0) {
    say_strict_problems(plan, warmer, outcome.strict_problems, limits.max_bytes);
  }
  if (outcome.interrupted() || outcome.counts.failed > 0 || !outcome.strict_problems.empty()) throw Failed();
}

void warm(const Options& options) {
  const WarmPlan plan = plan_of(options);
  if (options.list) return list(plan, options.json);
  const Stopwatch watch;
  std::mutex shown;
  WarmProgress progress(plan, options.json);
  const auto jit = jit_options(options, [&](std::string_view text) {
    const std::scoped_lock lock(shown);
    progress.say_above(cache_advice(std::string(text), options.cache_folder));
  });
  const WarmSettings settings = settings_of(options, plan.jobs.size());
  Interruptible interruptible;  // outlives the workers, so that no signal leaves their files behind
  Warmer warmer(jit, plan, settings, [&](std::size_t job, const WarmResult& result) {
    const std::scoped_lock lock(shown);
    progress.tell(job, result);
  });
  if (const auto problem = warmer.jit().disk()->problem())
    throw UserError(cache_advice(*problem, options.cache_folder));
  run(warmer, progress, shown, plan.jobs.size(), settings.jobs);
  progress.finish();
  const Outcome outcome{.counts = warmer.counts(),
                        .seconds = watch.ms() / 1000,
                        .bytes = stored_bytes(plan, warmer),
                        .strict_problems = strict_problems(jit, plan)};
  interruptible.hold_off();
  conclude(options, plan, warmer, outcome, jit.cache_settings.limits);
}

}  // namespace

void add_warm(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("warm", "Build kernels into the cache, so that nothing has to be compiled later");
  command.add_option("KEY", options->keys, "keys, or patterns such as 'minimax_m3.k1{tokens=1|2|8,signal=*}'");
  command.add_option("--model", options->models, "every kernel that serving this model needs")->check(not_empty());
  command.add_option("--file", options->file, "file of jobs, JSON or JSON lines; - is standard input")
      ->check(not_empty());
  add_archs_flag(command, options->archs);
  add_cache_folder_flag(command, options->cache_folder);
  command.add_option("-j,--jobs", options->jobs, "builds at the same time, a process each (default: the processors)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--timeout", options->timeout_s, "seconds that one build may take, and a wait for another's")
      ->check(seconds_between(kLeastSeconds, kMostSeconds))
      ->capture_default_str();
  command.add_option("--retries", options->retries, "times that a build whose process ended is tried again")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("--memory", options->memory_mib, "MiB that each process may allocate")
      ->check(CLI::Range(std::uint64_t{16}, std::uint64_t{1} << 20))
      ->capture_default_str();
  command
      .add_option("--shard", options->shard, "I/N: only part I of N, counted from 0; the parts together are the whole")
      ->capture_default_str();
  command.add_flag("--list", options->list, "build nothing: print the jobs");
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { warm(*options); });
}

}  // namespace monojit::tools
