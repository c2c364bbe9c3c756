// Any text is a key, a pattern, or refused with a UserError; a key that parses has a text that parses to the same key.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernels/common/error.h"
#include "kernels/common/family.h"
#include "kernels/common/key_pattern.h"

namespace {

using namespace monojit::kernels;

constexpr std::size_t kMostKeys = 1000;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_key(std::string_view text) {
  const BuildKey key = BuildKey::parse(text);
  const BuildKey again = BuildKey::parse(key.text());
  check(again == key && again.bytes() == key.bytes());
  check(expand_pattern(key.text()) == std::vector{key});
}

void check_pattern(std::string_view text) {
  const auto keys = expand_pattern(text, kMostKeys);
  check(!keys.empty() && keys.size() <= kMostKeys);
  check(is_pattern(text) || keys.size() == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto checked : {check_key, check_pattern}) {
    try {
      checked(text);
    } catch (const monojit::UserError&) {
      continue;
    }
  }
  return 0;
}
