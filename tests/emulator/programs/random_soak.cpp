// monojit_soak_programs [--first SEED] [--seeds COUNT]: random programs on each variant of the tests; prints what
// differs.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <iostream>
#include <string_view>

#include <fmt/format.h>

#include "tests/emulator/programs/random_run.h"

namespace {

using namespace monojit::emulator;  // NOLINT(google-build-using-namespace)

bool read_number(const char* text, u64& number) {
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc{} && stop == end;
}

int run(int count, char** words) {
  constexpr u64 kTogether = 8;  // programs of one compilation
  u64 first = 1, seeds = 64;
  for (int i = 1; i < count; i += 2) {
    const std::string_view option = words[i];
    const bool known = option == "--first" || option == "--seeds";
    if (!known || i + 1 == count || !read_number(words[i + 1], option == "--first" ? first : seeds)) {
      std::cerr << "usage: " << words[0] << " [--first SEED] [--seeds COUNT]\n";
      return 2;
    }
  }
  u32 problems = 0;
  for (u64 begin = first; begin < first + seeds; begin += kTogether) {
    std::vector<u64> some;
    for (u64 seed = begin; seed < std::min(begin + kTogether, first + seeds); ++seed) some.push_back(seed);
    for (const test::Variant& variant : test::variants()) {
      const std::string report = test::run_random_programs(some, variant);
      std::cout << report << std::flush;
      problems += report.empty() ? 0 : 1;
    }
  }
  std::cout << fmt::format("{} programs on {} variants: {} with differences\n", seeds, test::variants().size(),
                           problems);
  return problems == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
