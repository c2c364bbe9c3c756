#include "tools/warm/strict_problems.h"

#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "environment/variables.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

/// Takes the problems of jobs off whose entries were there during this command and are gone. Gives how many.
std::size_t take_removed(const WarmPlan& plan, Warmer& warmer, std::vector<StrictProblem>& problems) {
  return std::erase_if(problems, [&](const StrictProblem& problem) {
    const WarmJob& job = plan.jobs[problem.job];
    const runtime::Obtained& obtained = warmer.results()[problem.job].obtained;
    if (!obtained.stored && obtained.source != cache::Source::kDisk) return false;
    std::error_code error;
    const cache::DiskStore& disk = *warmer.jit().disk();
    return !std::filesystem::exists(disk.file_of(warmer.jit().cache_key(job.key, job.arch).digest()), error);
  });
}

/// Of the entry files that the jobs have in the folder, or had.
std::uint64_t wanted_bytes(const WarmPlan& plan, Warmer& warmer) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const auto& kernel = warmer.results()[i].obtained.kernel;
    if (kernel == nullptr) continue;
    const cache::Key key = warmer.jit().cache_key(plan.jobs[i].key, plan.jobs[i].arch);
    bytes += cache::encode({key, runtime::to_json_text(kernel->record), *kernel->code_object}).size();
  }
  return bytes;
}

/// Why `removed` of the jobs' kernels are gone.
std::string removal_text(const WarmPlan& plan, Warmer& warmer, std::size_t removed, std::uint64_t max_bytes) {
  if (max_bytes != 0 && wanted_bytes(plan, warmer) > max_bytes) {
    return fmt::format(
        "{} of the {} kernels were removed again: together they are more than the {} bytes that {} allows "
        "the cache (set it higher, or to 0 for no limit)",
        removed, plan.jobs.size(), max_bytes, environment::name(environment::Id::kCacheMaxSize));
  }
  return fmt::format(
      "{} of the {} kernels were removed meanwhile by another process: the same command builds them again", removed,
      plan.jobs.size());
}

}  // namespace

void say_strict_problems(const WarmPlan& plan, Warmer& warmer, std::vector<StrictProblem> problems,
                         std::uint64_t max_bytes) {
  if (const std::size_t removed = take_removed(plan, warmer, problems); removed > 0)
    say(removal_text(plan, warmer, removed, max_bytes));
  for (const StrictProblem& problem : problems) say("strict mode would not serve a job: " + problem.text);
}

}  // namespace monojit::tools
