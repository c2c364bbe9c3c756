#include <bit>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "kernels/common/family.h"
#include "tools/commands/commands.h"
#include "tools/report.h"
#include "tools/session.h"

namespace monojit::tools {
namespace {

using kernels::Field;
using kernels::FieldKind;

std::string_view kind_name(FieldKind kind) {
  switch (kind) {
    case FieldKind::kInteger:
      return "integer";
    case FieldKind::kChoice:
      return "choice";
    case FieldKind::kFloat32:
      return "float32";
  }
  return "?";
}

/// The default as the key's text has it.
std::optional<std::string> default_text(const Field& field) {
  if (!field.fallback) return std::nullopt;
  for (const kernels::Choice& choice : field.choices) {
    if (choice.value == *field.fallback) return std::string(choice.name);
  }
  if (field.kind == FieldKind::kFloat32) {
    return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(*field.fallback)));
  }
  return std::to_string(*field.fallback);
}

Json field_json(const Field& field) {
  Json json = {{"name", field.name},
               {"meaning", field.meaning},
               {"kind", kind_name(field.kind)},
               {"range", kernels::range_text(field)}};
  if (field.kind == FieldKind::kInteger) {
    json["first"] = field.first;
    json["last"] = field.last;
  }
  if (field.kind == FieldKind::kChoice) {
    json["choices"] = Json::array();
    for (const kernels::Choice& choice : field.choices) json["choices"].push_back(choice.name);
  }
  const std::optional<std::string> fallback = default_text(field);
  json["default"] = fallback ? Json(*fallback) : Json(nullptr);
  return json;
}

Json family_json(const kernels::Family& family) {
  Json json = {
      {"name", family.name}, {"summary", family.summary}, {"fields", Json::array()}, {"arguments", Json::array()}};
  for (const Field& field : family.fields) json["fields"].push_back(field_json(field));
  for (const kernels::Argument& argument : family.arguments) {
    json["arguments"].push_back({{"name", argument.name},
                                 {"type", kernels::type_name(argument.type)},
                                 {"written", argument.written},
                                 {"alignment", argument.alignment},
                                 {"meaning", argument.meaning}});
  }
  return json;
}

void print_family(const kernels::Family& family, bool arguments) {
  print("{}\n  {}\n\n", family.name, family.summary);
  Table fields({Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft});
  fields.add({"FIELD", "RANGE", "DEFAULT", "MEANING"});
  for (const Field& field : family.fields) {
    fields.add({std::string(field.name), kernels::range_text(field), default_text(field).value_or("(must be given)"),
                std::string(field.meaning)});
  }
  print("{}", fields.text(2));
  if (!arguments) return;
  Table list({Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft});
  list.add({"ARGUMENT", "TYPE", "WRITTEN", "MEANING"});
  for (const kernels::Argument& argument : family.arguments) {
    list.add({std::string(argument.name), std::string(kernels::type_name(argument.type)), argument.written ? "yes" : "",
              std::string(argument.meaning)});
  }
  print("\n{}", list.text(2));
}

struct Options {
  std::string family;
  bool json = false;
  bool arguments = false;
};

void keys(const Options& options) {
  std::vector<const kernels::Family*> chosen(kernels::families().begin(), kernels::families().end());
  if (!options.family.empty()) chosen = {&kernels::family(options.family)};
  if (options.json) {
    Json list = Json::array();
    for (const kernels::Family* family : chosen) list.push_back(family_json(*family));
    print_json({{"families", list}});
    return;
  }
  for (const kernels::Family* family : chosen) print_family(*family, options.arguments);
}

}  // namespace

void add_keys(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("keys", "List the kernels, the fields of their keys, ranges, defaults and meaning");
  command.add_option("FAMILY", options->family, "only this kernel, e.g. minimax_m3.k1")->check(not_empty());
  command.add_flag("--arguments", options->arguments, "list the kernels' arguments too (--json always has them)");
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options] { keys(*options); });
}

}  // namespace monojit::tools
