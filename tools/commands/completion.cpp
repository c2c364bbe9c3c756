#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/family.h"
#include "kernels/models.h"
#include "tools/commands/commands.h"
#include "tools/report.h"

namespace monojit::tools {
namespace {

constexpr const char* kShells[] = {"bash", "zsh"};

struct Word {
  std::string text;
  std::string meaning;
};

/// What may be typed behind a chain of subcommands ("/cache/ls"; the program itself: "").
struct Place {
  std::string path;
  std::vector<Word> words;
  bool takes_file = false;     ///< the shell offers them where no option is typed
  bool takes_entries = false;  ///< of the cache, behind the file: the program is asked for their digests
};

/// What may be typed behind an option of a place ("*": of any that comes behind the others).
struct Values {
  std::string place;
  std::string option;
  std::vector<std::string> values;
};

std::vector<Values> option_values() {
  std::vector<std::string> models;
  for (const kernels::Model& model : kernels::models()) models.emplace_back(model.name);
  return {{"*", "--arch", {"gfx950", "gfx942"}},
          {"*", "--device", {"auto", "hip", "emulator"}},
          {"*", "--model", models},
          {"/diff", "--emit", {"fields", "resources", "ir", "isa"}},
          {"*", "--emit", {"ir", "opt-ir", "isa", "metadata", "resources", "layout"}}};
}

/// Options that take a value of which nothing is known: most are files, which the shell offers where there are no
/// words.
std::vector<std::string> other_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::ranges::copy(other_options(*each), std::back_inserter(names));
  }
  const std::vector<Values> known = option_values();
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::any_of(known, [&](const Values& each) { return each.option == name; });
  });
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

/// One line, fit for quotes.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '\'' || c == '\\'; });
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == ':'; }, ' ');
  return text;
}

void add_options(const CLI::App& app, std::vector<Word>& words) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      words.push_back({"--" + name, plain(option->get_description())});
    if (option->get_lnames().empty() && option->nonpositional()) {
      for (const std::string& name : option->get_snames())
        words.push_back({"-" + name, plain(option->get_description())});
    }
    const std::string positional = option->get_name(true, false);
    if (positional == "SHELL") {
      for (const char* shell : kShells) words.push_back({shell, "this shell"});
    }
    if (positional != "KEY" && positional != "FAMILY" && positional != "FIRST" && positional != "SECOND") continue;
    for (const kernels::Family* family : kernels::families()) {
      words.push_back({std::string(family->name), plain(std::string(family->summary))});
    }
  }
}

bool takes(const CLI::App& app, std::initializer_list<std::string_view> positionals) {
  return std::ranges::any_of(app.get_options(), [&](const CLI::Option* option) {
    return std::ranges::find(positionals, option->get_name(true, false)) != positionals.end();
  });
}

void add_places(const CLI::App& app, const std::string& path, std::vector<Place>& places) {
  const bool takes_file = takes(app, {"ARCHIVE", "OUT", "FILE"});
  Place place{path, {}, takes_file, takes(app, {"ENTRY"})};
  const auto subcommands = app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
  for (const CLI::App* each : subcommands) place.words.push_back({each->get_name(), plain(each->get_description())});
  add_options(app, place.words);
  places.push_back(std::move(place));
  for (const CLI::App* each : subcommands) add_places(*each, path + "/" + each->get_name(), places);
}

std::vector<Place> places_of(const CLI::App& app) {
  std::vector<Place> places;
  add_places(app, "", places);
  return places;
}

/// The chains of subcommands as patterns of a shell's case.
std::string path_patterns(const std::vector<Place>& places) {
  std::vector<std::string> paths;
  for (const Place& place : places) {
    if (!place.path.empty()) paths.push_back(place.path);
  }
  return fmt::format("{}", fmt::join(paths, "|"));
}

/// What prints the digests of a listing, behind the program's name, in either shell.
constexpr const char* kDigests = R"(cache ls "${folder[@]}" 2>/dev/null | sed -n 's/^\([0-9a-f]\{12\}\) .*/\1/p')";

std::string bash_script(const std::vector<Place>& places, const std::vector<std::string>& others) {
  std::string text =
      "# bash completion for monojit:  source <(monojit completion bash)\n_monojit() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} place= words= before= left= word "
      "i typed=0 folder=()\n"
      "  if [[ $current == --*=* ]]; then previous=${current%%=*} before=${current%%=*}=\n"  // = breaks no words
      "  elif [[ $current == = ]]; then current=\n"
      "  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  [[ $previous == --* && $current == *,* ]] && before=${current%,*},\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case $word in\n"
      "      --cache-dir=*) folder=(--cache-dir \"${word#*=}\"); continue ;;\n"
      "      --cache-dir) [[ ${COMP_WORDS[i+1]} == = ]] && ((i++))\n"
      "        ((i++)); folder=(--cache-dir \"${COMP_WORDS[i]}\"); continue ;;\n"
      "      -*) continue ;;\n"
      "    esac\n"
      "    case $place/$word in\n";
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "      {}) place=$place/$word typed=0 ;;\n      *) ((typed++)) ;;\n    esac\n  done\n"
                 "  case $place:$previous in\n",
                 path_patterns(places));
  for (const Values& each : option_values()) {
    fmt::format_to(out, "    {}:{}) words='{}' ;;\n", each.place, each.option, fmt::join(each.values, " "));
  }
  fmt::format_to(out, "    *:{}) ;;\n    *) case $place in\n", fmt::join(others, "|*:"));
  for (const Place& place : places) {
    std::vector<std::string> words;
    for (const Word& word : place.words) words.push_back(word.text);
    fmt::format_to(out, "      '{}') {}words='{}'{} ;;\n", place.path,
                   place.takes_file ? "[[ $current == -* ]] && " : "", fmt::join(words, " "),
                   place.takes_entries
                       ? fmt::format("\n        [[ $current == -*{} ]] || words+=\" $(\"${{COMP_WORDS[0]}}\" {})\"",
                                     place.takes_file ? " || $typed == 0" : "", kDigests)
                       : "");
  }
  text +=
      "    esac ;;\n  esac\n"
      "  for word in $words; do [[ ,${before#--*=} == *,$word,* ]] || left+=\" $word\"; done\n"
      "  mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$left\" -- \"${current#\"$before\"}\")\n"
      "}\ncomplete -o default -F _monojit monojit\n";
  return text;
}

std::string zsh_script(const std::vector<Place>& places, const std::vector<std::string>& others) {
  std::string text =
      "#compdef monojit\n# zsh completion for monojit:  source <(monojit completion zsh)\n_monojit() {\n"
      "  local place= word last= previous=${words[CURRENT-1]}\n  local -i typed=0\n  local -a choices folder\n"
      "  if [[ $PREFIX == --*=* ]]; then previous=${PREFIX%%=*}; compset -P '*='; fi\n"
      "  [[ $previous == --* ]] && compset -P '*,'\n"
      "  for word in ${words[2,CURRENT-1]}; do\n"
      "    if [[ $last == --cache-dir ]]; then folder=(--cache-dir $word) last=; continue; fi\n"
      "    last=$word\n"
      "    case $word in\n"
      "      --cache-dir=*) folder=(--cache-dir ${word#*=}); continue ;;\n"
      "      -*) continue ;;\n"
      "    esac\n"
      "    case $place/$word in\n";
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "      {}) place=$place/$word typed=0 ;;\n      *) (( typed += 1 )) ;;\n    esac\n  done\n"
                 "  case $place:$previous in\n",
                 path_patterns(places));
  for (const Values& each : option_values()) {
    fmt::format_to(out, "    {}:{}) choices=({}) ;;\n", each.place, each.option, fmt::join(each.values, " "));
  }
  fmt::format_to(out, "    *:{}) ;;\n    *) case $place in\n", fmt::join(others, "|*:"));
  for (const Place& place : places) {
    fmt::format_to(out, "      '{}') {}choices=(\n", place.path, place.takes_file ? "[[ $PREFIX != -* ]] || " : "");
    for (const Word& word : place.words) fmt::format_to(out, "        '{}:{}'\n", word.text, word.meaning);
    text += "        )";
    if (place.takes_entries) {
      fmt::format_to(out, "\n        {}choices+=(${{(f)\"$($words[1] {})\"}})",
                     place.takes_file ? "(( typed )) && " : "", kDigests);
    }
    text += " ;;\n";
  }
  text += "    esac ;;\n  esac\n  _describe monojit choices || _files\n}\ncompdef _monojit monojit\n";
  return text;
}

}  // namespace

void add_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand(
      "completion", "Print what makes a shell complete monojit's commands:  source <(monojit completion bash)");
  command.add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kShells), std::end(kShells))));
  command.callback([shell, &app] {
    const std::vector<Place> places = places_of(app);
    const std::vector<std::string> others = other_options(app);
    put(*shell == "bash" ? bash_script(places, others) : zsh_script(places, others));
  });
}

}  // namespace monojit::tools
