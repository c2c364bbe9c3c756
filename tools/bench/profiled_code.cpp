#include "tools/bench/profiled_code.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <ranges>

namespace monojit::tools {
namespace {

constexpr int kLanes = 64;

/// What stands behind `prefix` in `text` as a number.
std::optional<int> number_behind(std::string_view text, std::string_view prefix) {
  const auto at = text.find(prefix);
  if (at == std::string_view::npos) return std::nullopt;
  int value = 0;
  const char* const begin = text.data() + at + prefix.size();
  return std::from_chars(begin, text.data() + text.size(), value).ec == std::errc() ? std::optional(value)
                                                                                    : std::nullopt;
}

bool has_word(std::string_view text, std::string_view word) {
  for (const auto part : std::views::split(text, ' ')) {
    if (std::string_view(part.begin(), part.end()) == word) return true;
  }
  return false;
}

struct Width {
  std::string_view ending;
  int bytes;
};
/// Longer endings first.
constexpr Width kWidths[] = {{"dwordx16", 64}, {"dwordx8", 32}, {"dwordx4", 16}, {"dwordx3", 12}, {"dwordx2", 8},
                             {"dword", 4},     {"b128", 16},    {"b96", 12},     {"b64", 8},      {"b32", 4},
                             {"short", 2},     {"b16", 2},      {"byte", 1},     {"b8", 1},       {"u8", 1}};

int width_of(std::string_view mnemonic) {
  const auto* const found =
      std::ranges::find_if(kWidths, [&](const Width& width) { return mnemonic.find(width.ending) != mnemonic.npos; });
  return found == std::end(kWidths) ? 4 : found->bytes;
}

void add_lds(CodeLine& line) {
  const bool reads = line.mnemonic.starts_with("ds_read");
  if (!reads && !line.mnemonic.starts_with("ds_write")) return;
  const bool two = line.mnemonic.starts_with("ds_read2") || line.mnemonic.starts_with("ds_write2");
  line.traffic = reads ? Traffic::kLdsLoaded : Traffic::kLdsStored;
  line.bytes = width_of(line.mnemonic) * (two ? 2 : 1) * kLanes;
}

void add_memory(std::string_view text, CodeLine& line) {
  const bool scalar = line.source_class == "scalar_memory";
  const bool loads = line.mnemonic.find("load") != std::string::npos;
  const bool stores = line.mnemonic.find("store") != std::string::npos;
  if (!loads && !stores) return;
  const bool device = has_word(text, "sc1");
  const bool system = device && has_word(text, "sc0");
  line.bytes = width_of(line.mnemonic) * (scalar ? 1 : kLanes);
  if (stores) {
    line.traffic = system ? Traffic::kPushed : Traffic::kStored;
  } else if (system) {
    line.traffic = Traffic::kSystem;
  } else if (device) {
    line.traffic = Traffic::kDevice;
  } else {
    line.traffic = has_word(text, "nt") ? Traffic::kStreamed : Traffic::kCached;
  }
}

CodeLine line_of(const Json& instruction) {
  const auto text = instruction["text"].get<std::string>();
  const auto source = instruction["source"].get<std::string>();
  const Json& executions = instruction["executions"];
  CodeLine line{.address = instruction["address"].get<std::uint64_t>(),
                .mnemonic = text.substr(0, text.find(' ')),
                .source = std::filesystem::path(source.substr(0, source.rfind(':'))).stem(),
                .source_class = instruction["class"].get<std::string>(),
                .executions = executions.is_null() ? 0 : executions.get<std::uint64_t>(),
                .out_of_range = instruction["out_of_range"].get<std::uint64_t>()};
  if (line.mnemonic == "s_waitcnt") line.vmcnt = number_behind(text, "vmcnt(");
  if (line.source_class == "lds") add_lds(line);
  if (line.source_class == "vector_memory" || line.source_class == "scalar_memory") add_memory(text, line);
  return line;
}

/// Branches go so many words, 16 bits with a sign, from the next instruction on.
void find_targets(const Json& instructions, std::vector<CodeLine>& code) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::string& name = code[i].mnemonic;
    if (name != "s_branch" && !name.starts_with("s_cbranch")) continue;
    const auto words = number_behind(instructions[i]["text"].get_ref<const std::string&>(), name + ' ');
    if (!words) continue;
    const std::uint64_t address =
        code[i].address + 4 + static_cast<std::uint64_t>(4 * static_cast<std::int16_t>(*words));
    const auto found = std::ranges::lower_bound(code, address, {}, &CodeLine::address);
    if (found != code.end() && found->address == address)
      code[i].target = static_cast<std::size_t>(found - code.begin());
  }
}

/// A wait's loop is the smallest one around an s_sleep.
void mark_retries(std::vector<CodeLine>& code) {
  for (std::size_t sleep = 0; sleep < code.size(); ++sleep) {
    if (code[sleep].mnemonic != "s_sleep") continue;
    std::optional<std::pair<std::size_t, std::size_t>> loop;
    for (std::size_t back = sleep + 1; back < code.size(); ++back) {
      if (!code[back].target || *code[back].target > sleep) continue;
      if (!loop || back - *code[back].target < loop->second - loop->first) loop = {*code[back].target, back};
    }
    if (!loop) continue;
    for (std::size_t i = loop->first; i <= loop->second; ++i) code[i].retry = true;
  }
}

}  // namespace

std::vector<CodeLine> profiled_code(const Json& kernel) {
  const Json& instructions = kernel["instructions"];
  std::vector<CodeLine> code;
  for (const Json& instruction : instructions) code.push_back(line_of(instruction));
  find_targets(instructions, code);
  mark_retries(code);
  return code;
}

bool falls_through(const CodeLine& line) {
  return line.mnemonic != "s_branch" && line.mnemonic != "s_endpgm" && line.mnemonic != "s_setpc_b64";
}

}  // namespace monojit::tools
