#include "cache/settings.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "environment/variables.h"

namespace monojit::cache {
namespace {

std::optional<unsigned> parse_umask(std::string_view text) {
  constexpr int kOctal = 8;
  constexpr unsigned kLargest = 0777;
  unsigned mask = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, mask, kOctal);
  if (error != std::errc() || rest != end || mask > kLargest) return std::nullopt;
  return mask;
}

std::vector<std::filesystem::path> parse_paths(std::string_view text) {
  std::vector<std::filesystem::path> paths;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    if (end != 0) paths.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return paths;
}

/// One variable after the other: those that are set and mean something go where they belong.
class Reader {
 public:
  Reader(const Environment& environment, const Warnings& warnings) : environment_(environment), warnings_(warnings) {}

  std::string_view text(const char* name) const {
    const char* value = environment_(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  }

  template <class Parse, class Use>
  void read(const char* name, Parse parse, std::string_view wanted, Use use) const {
    const std::string_view value = text(name);
    if (value.empty()) return;
    if (const auto parsed = parse(value)) {
      use(*parsed);
    } else {
      warnings_.once(std::string("variable ") + name,
                     fmt::format("{}={} is not used: it wants {}", name, printable(value), wanted));
    }
  }

 private:
  const Environment& environment_;
  const Warnings& warnings_;
};

}  // namespace

Settings Settings::from(const Environment& lookup, const Warnings& warnings) {
  using environment::Id;
  using environment::name;
  Settings settings;
  const Reader reader(lookup, warnings);
  reader.read(name(Id::kCacheMaxSize), parse_size, "a size such as 500M or 10G, 0 for no limit",
              [&](std::uint64_t bytes) { settings.limits.max_bytes = bytes; });
  reader.read(name(Id::kCacheMaxAge), parse_age, "a time such as 12h or 30d, 0 for no limit",
              [&](std::int64_t seconds) { settings.limits.max_age_s = seconds; });
  reader.read(name(Id::kCacheUmask), parse_umask, "an octal mask such as 002",
              [&](unsigned mask) { settings.modes = Modes::with_umask(mask); });
  settings.read_only = parse_paths(reader.text(name(Id::kCacheReadonly)));
  settings.remote = reader.text(name(Id::kCacheRemote));
  return settings;
}

Settings Settings::from_environment(const Warnings& warnings) {
  return from([](const char* name) -> const char* { return std::getenv(name); }, warnings);
}

}  // namespace monojit::cache
