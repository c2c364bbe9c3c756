#pragma once

#include <string>
#include <string_view>

namespace monojit::tools {

/// What no job file may hold though it is JSON: a member twice, a number that is too small to be told from 0 or too
/// large, lists and objects far deeper than a job's. In words; empty: none of these, though
/// `text` need not be JSON.
std::string problem_of_jobs(std::string_view text);

}  // namespace monojit::tools
