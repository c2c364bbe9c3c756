#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/commands/commands.h"
#include "tools/kernel_run.h"
#include "tools/report.h"
#include "tools/session.h"
#include "tools/stages.h"
#include "tools/text_diff.h"

namespace monojit::tools {
namespace {

constexpr std::string_view kParts[] = {"fields", "resources", "ir", "isa"};
constexpr const char* kPartNames = "fields, resources, ir and isa";

struct Options {
  std::string first;
  std::string second;
  std::vector<std::string> parts = {kParts[0].data(), kParts[1].data(), kParts[2].data(), kParts[3].data()};
  BuildFlags build;
  bool json = false;
};

/// One of two kernels.
struct Side {
  kernels::BuildKey key;
  BuiltStages stages;
};

/// A line of two columns that differ.
struct Difference {
  std::string name;
  std::string first;
  std::string second;
};

std::vector<Difference> field_differences(const kernels::BuildKey& a, const kernels::BuildKey& b) {
  std::vector<Difference> found;
  if (&a.family() != &b.family()) {
    found.push_back({"family", std::string(a.family().name), std::string(b.family().name)});
    return found;
  }
  for (std::size_t i = 0; i < a.values().size(); ++i) {
    if (a.values()[i] == b.values()[i]) continue;
    found.push_back({std::string(a.family().fields[i].name), a.value_text(i), b.value_text(i)});
  }
  return found;
}

/// All numbers of a kernel: its resources, then its instructions by class.
std::vector<std::pair<std::string, std::uint64_t>> figures(const runtime::Compiled& compiled) {
  std::vector<std::pair<std::string, std::uint64_t>> list;
  const Json resources = resources_json(compiled.kernel.record.resources);
  for (const auto& [name, value] : resources.items()) {
    if (value.is_number_unsigned()) list.emplace_back(name, value.get<std::uint64_t>());
    if (!value.is_object()) continue;
    for (const auto& [part, number] : value.items()) list.emplace_back(name + "." + part, number.get<std::uint64_t>());
  }
  for (const auto& [name, count] : compiled.instructions) list.emplace_back("instructions." + name, count);
  return list;
}

std::vector<Difference> resource_differences(const runtime::Compiled& a, const runtime::Compiled& b) {
  const auto before = figures(a);
  const auto after = figures(b);
  std::vector<Difference> found;
  const auto value = [](const auto& list, const std::string& name) {
    const auto at = std::ranges::find(list, name, [](const auto& each) { return each.first; });
    return at == list.end() ? std::uint64_t{0} : at->second;
  };
  auto names = before;
  for (const auto& each : after) {
    if (std::ranges::find(before, each.first, [](const auto& one) { return one.first; }) == before.end()) {
      names.push_back(each);
    }
  }
  for (const auto& [name, unused] : names) {
    const std::uint64_t first = value(before, name);
    const std::uint64_t second = value(after, name);
    if (first != second) found.push_back({name, std::to_string(first), std::to_string(second)});
  }
  return found;
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

/// A line of ISA without its address, and without those that labels have: what stays when code is moved.
std::string isa_key(std::string_view line, const std::string& symbol) {
  std::string key(line);
  const std::size_t digits = key.find_first_not_of(' ');
  std::size_t end = digits;
  while (end < key.size() && is_hex(key[end])) ++end;
  if (digits != std::string::npos && digits > 0 && end > digits && key.compare(end, 2, "  ") == 0) key.erase(0, end);
  for (std::size_t at = key.find('L'); at != std::string::npos; at = key.find('L', at + 1)) {
    const bool alone = at == 0 || key[at - 1] == ' ';
    std::size_t last = at + 1;
    while (last < key.size() && is_hex(key[last])) ++last;
    if (alone && last > at + 1 && (last == key.size() || key[last] == ':')) key.erase(at + 1, last - at - 1);
  }
  if (const std::size_t at = key.find(symbol); at != std::string::npos) key.replace(at, symbol.size(), "kernel");
  return key;
}

/// A line of LLVM IR without its place in the debug information.
std::string ir_key(std::string_view line, const std::string& symbol) {
  if (line.starts_with('!')) return "!";
  std::string key(line.substr(0, line.find(", !dbg ")));
  if (const std::size_t at = key.find(symbol); at != std::string::npos) key.replace(at, symbol.size(), "kernel");
  return key;
}

struct TextDifference {
  std::size_t removed = 0;
  std::size_t added = 0;
  std::string unified;
};

using LineKey = std::string (*)(std::string_view line, const std::string& symbol);

TextDifference text_difference(const std::string& first, const std::string& second, const Side& a, const Side& b,
                               LineKey key) {
  const auto keys = [&](const std::vector<std::string_view>& lines, const Side& side) {
    std::vector<std::string> texts;
    for (const std::string_view line : lines) texts.push_back(key(line, side.key.symbol()));
    return texts;
  };
  const std::vector<std::string_view> old_lines = lines_of(first);
  const std::vector<std::string_view> new_lines = lines_of(second);
  const std::vector<std::string> old_keys = keys(old_lines, a);
  const std::vector<std::string> new_keys = keys(new_lines, b);
  const auto edits = diff_lines({old_keys.begin(), old_keys.end()}, {new_keys.begin(), new_keys.end()});
  const auto count = [&](char kind) {
    return static_cast<std::size_t>(std::ranges::count(edits, kind, &LineEdit::kind));
  };
  return {count('-'), count('+'), unified(edits, old_lines, new_lines)};
}

Json to_json(const std::vector<Difference>& differences) {
  Json list = Json::array();
  for (const Difference& each : differences) {
    list.push_back({{"name", each.name}, {"first", each.first}, {"second", each.second}});
  }
  return list;
}

void print_table(std::string_view title, const std::vector<Difference>& differences) {
  if (differences.empty()) return print("{}: the same\n", title);
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kRight});
  table.add({std::string(title), "FIRST", "SECOND"});
  for (const Difference& each : differences) table.add({each.name, each.first, each.second});
  print("{}", table.text());
}

class Report {
 public:
  explicit Report(bool json) : as_json_(json) {}

  void add(const char* part, const std::vector<Difference>& differences) {
    json_[part] = to_json(differences);
    if (!as_json_) print_table(part, differences);
  }
  void add(const char* part, const TextDifference& text) {
    json_[part] = {{"removed", text.removed}, {"added", text.added}, {"unified", text.unified}};
    if (!as_json_)
      print("{}: {} lines only in the first, {} only in the second\n{}", part, text.removed, text.added, text.unified);
  }
  Json& json() { return json_; }

 private:
  bool as_json_;
  Json json_;
};

void diff(const Options& options) {
  for (const std::string& part : options.parts) {
    if (std::ranges::find(kParts, part) == std::end(kParts)) {
      throw UserError(fmt::format("--emit={}: no such part; parts are {}", part, kPartNames));
    }
  }
  const auto wanted = [&](std::string_view part) {
    return std::ranges::find(options.parts, part) != options.parts.end();
  };
  const std::string arch = build_arch(options.build);
  const auto side = [&](const std::string& text) {
    kernels::BuildKey key = kernels::BuildKey::parse(text);
    kernels::validate(key, arch);
    return Side{key, {}};
  };
  Side a = side(options.first);
  Side b = side(options.second);
  Report report(options.json);
  report.json() = {{"first", a.key.text()}, {"second", b.key.text()}, {"arch", arch}};
  if (wanted("fields")) report.add("fields", field_differences(a.key, b.key));
  if (wanted("resources") || wanted("ir") || wanted("isa")) {
    const runtime::StageRequest stages = {.emitted_ir = wanted("ir"), .isa = wanted("isa")};
    for (Side* each : {&a, &b}) each->stages = obtain_stages(each->key, arch, options.build, stages);
  }
  const runtime::Compiled& first = a.stages.compiled;
  const runtime::Compiled& second = b.stages.compiled;
  if (wanted("resources")) report.add("resources", resource_differences(first, second));
  if (wanted("ir")) {
    report.add("ir", text_difference(first.stages.emitted_ir, second.stages.emitted_ir, a, b, ir_key));
  }
  if (wanted("isa")) report.add("isa", text_difference(first.stages.isa, second.stages.isa, a, b, isa_key));
  if (options.json) print_json(report.json());
}

}  // namespace

void add_diff(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("diff", "Compare two kernels: fields, resources, IR and machine code");
  command.add_option("FIRST", options->first, "a key")->required();
  command.add_option("SECOND", options->second, "another key")->required();
  command.add_option("--emit", options->parts, "parts, separated by commas: fields, resources, ir, isa")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(not_empty());
  add_arch_flag(command, options->build.arch);
  add_cache_folder_flag(command, options->build.cache_folder);
  command.add_flag("--no-cache", options->build.no_cache, "build anew and store nothing");
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { diff(*options); });
}

}  // namespace monojit::tools
