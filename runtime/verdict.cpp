#include "runtime/verdict.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/common/rank_reasons.h"
#include "runtime/json_words.h"

namespace monojit::runtime {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Verdict, reasons, toolchain, keys, code, built, read, held)

std::string to_json_text(const Verdict& verdict) {
  return nlohmann::json(verdict).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Verdict verdict_from_json(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<Verdict>();
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("unreadable verdict: {}", json_words(error)));
  }
}

std::vector<std::string> disagreements(std::span<const Verdict> ranks) {
  kernels::RankReasons found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Verdict& verdict = ranks[rank];
    const auto object = [&](std::string reason) { found.add(static_cast<int>(rank), std::move(reason)); };
    for (const std::string& reason : verdict.reasons) object(reason);
    if (!verdict.ok() || !ranks[0].ok()) continue;
    if (verdict.keys != ranks[0].keys) {
      object("has other keys than rank 0, or another build of monojit");
    } else if (verdict.code != ranks[0].code) {
      object(fmt::format("has other code than rank 0 ({}, rank 0 {})", verdict.toolchain, ranks[0].toolchain));
    }
  }
  return found.texts();
}

}  // namespace monojit::runtime
