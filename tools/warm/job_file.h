#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Files that say what to warm; docs/warming.md has the schema.
namespace monojit::tools {

/// One wish of a file.
struct WarmWish {
  std::string pattern;             ///< of keys; empty: `model` instead
  std::string model;               ///< empty: `pattern` instead
  std::vector<std::string> archs;  ///< empty: those of the command line
  std::string place;               ///< "jobs.json, job 3", for messages
};

/// JSON, or JSON lines: a job a line. Throws UserError naming the place and what is wrong there. `name` is the file's,
/// for messages.
std::vector<WarmWish> parse_job_file(std::string_view text, const std::string& name);

/// Reads `file`, "-" being standard input. Throws UserError when it can't be read.
std::vector<WarmWish> read_job_file(const std::string& file);

}  // namespace monojit::tools
