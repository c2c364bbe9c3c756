#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/argument.h"
#include "kernels/common/error.h"
#include "kernels/common/field.h"
#include "kernels/common/peer_state.h"
#include "kernels/common/region.h"

namespace monojit::kernels {

class BuildKey;

/// How a kernel has to be launched and what has to fit on the device at once.
struct Launch {
  std::uint32_t workgroups = 0;
  std::uint32_t workgroup_size = 0;    ///< threads
  bool persistent = false;             ///< workgroups wait on each other: all of them must be resident together
  std::uint32_t min_waves_per_eu = 0;  ///< bounds the registers of a lane to 512 / this; 0: the compiler's choice
};

/// Who puts what a wait is for.
struct WaitSource {
  std::optional<int> rank;       ///< nothing: the rank that waits
  std::optional<int> workgroup;  ///< nothing: depends on the data
};

/// The launch whose pairs a tag marks.
struct TaggedLaunch {
  std::int32_t epoch = 0;
  std::int32_t layer = 0;  ///< its argument `layer`
};

/// Where a kernel's bounded waits leave their record (kernels/common/health.h).
struct HealthWords {
  std::string_view argument;  ///< pointer argument whose memory holds them
  std::int64_t offset = 0;    ///< of word 0, bytes
  /// What a wait can be for, in the order of the data: whoever puts one waits for earlier ones alone.
  std::span<const std::string_view> regions;
  /// A pair of a region in words: what it holds and who puts it there; null: its number has to do.
  std::string (*describe)(const BuildKey&, std::string_view region, std::uint32_t pair) = nullptr;
  /// Who puts a pair; nothing for a pair that is none of the region's; null: nobody can tell.
  std::optional<WaitSource> (*source)(const BuildKey&, std::string_view region, std::uint32_t pair) = nullptr;
  /// Argument `layer` of the launch that a tag marks; null: tags don't tell it.
  std::int32_t (*layer_of_tag)(std::uint32_t tag) = nullptr;
  /// The same and its epoch; nothing: no launch has that tag.
  std::optional<TaggedLaunch> (*launch_of_tag)(std::uint32_t tag) = nullptr;
  /// Rises from launch to launch, and begins anew after 2^place_bits; null: the tag itself does.
  std::uint32_t (*place_of_tag)(std::uint32_t tag) = nullptr;
  int place_bits = 32;
};

/// Where a kernel leaves its time stamps, and what they mean.
struct TimelineWords {
  /// Pointer argument: int64 [workgroups][points] of the device's clock, 0 where a workgroup did not pass the point.
  std::string_view argument;
  int points = 0;  ///< of a workgroup, in the order in which it passes them
  std::int64_t ticks_per_second = 0;
  /// What a workgroup is for: "head q3".
  std::string (*role)(const BuildKey&, int workgroup) = nullptr;
  /// What a workgroup did between two points that it passed, with none between them that it passed; empty: nothing.
  std::string_view (*stage)(const BuildKey&, int workgroup, int from, int to) = nullptr;
};

/// All that the host needs to know of one kernel family. Holds no LLVM: a run that only hits the cache uses nothing
/// else.
struct Family {
  std::string_view name;     ///< "minimax_m3.k1"
  std::string_view summary;  ///< one line for `monojit keys`
  std::string_view symbol_stem;
  std::string_view generator_digest;  ///< of the sources that shape the code, taken at build time
  std::span<const Field> fields;
  std::span<const Argument> arguments;
  Launch (*launch)(const BuildKey&);
  /// Appends a sentence for every reason why this (in-range) key can't be built for `arch`.
  void (*check)(const BuildKey&, std::string_view arch, std::vector<std::string>& reasons);
  /// Nothing for kernels whose waits are unbounded or that never wait; null: for all of them.
  std::optional<HealthWords> (*health)(const BuildKey&) = nullptr;
  /// Nothing for builds that take no time stamps; null: none does.
  std::optional<TimelineWords> (*timeline)(const BuildKey&) = nullptr;
  /// Every memory whose layout the kernel defines, for `monojit dump --emit=layout`; null: none.
  std::vector<MemoryMap> (*layout)(const BuildKey&) = nullptr;
  /// The emitter's source files that are stages, without ending, in the order in which a launch comes to them; empty:
  /// the kernel has none.
  std::span<const std::string_view> stages = {};
  /// What the ranks of a group share; null: the kernel runs on one device alone.
  PeerState (*peer_state)(const BuildKey&) = nullptr;
};

/// Every family of this build, in the order of their names.
std::span<const Family* const> families();
/// Throws UserError, naming the families there are, when `name` is none of them.
const Family& family(std::string_view name);

/// A family and a value for each of its fields: what names one kernel. Values are always in range.
class BuildKey {
 public:
  /// The key written as `minimax_m3.k1{tokens=1,index_heads=1}`; fields may come in any order, those with a default may
  /// be left out, and with all of them the braces too; blanks may stand around every token. Throws UserError naming the
  /// field and its range when one is unknown, missing, doubled, malformed or out of range.
  static BuildKey parse(std::string_view text);
  /// From values by field name, e.g. of an engine's struct: choices by their value, floats as their bits. Throws as
  /// parse() does.
  static BuildKey from_values(const Family& family, const std::map<std::string, std::int64_t, std::less<>>& values);

  const Family& family() const { return *family_; }
  /// In the order of family().fields; floats as their bits.
  std::span<const std::int64_t> values() const { return values_; }
  /// Throws UserError, naming the fields there are, when `field` is none of them.
  std::int64_t value(std::string_view field) const;

  /// Canonical text: every field, in the order of the list.
  std::string text() const;
  /// Canonical bytes: for each field its name, a zero byte and its value as 8 little-endian bytes.
  std::vector<std::byte> bytes() const;
  /// A C identifier, unique within the family: the stem and a digest of bytes().
  std::string symbol() const;
  /// The value of field `index` as text: a number, a choice's name, or the shortest decimal of a float.
  std::string value_text(std::size_t index) const;

  /// The typed key of a family whose fields are the list `fields`.
  template <class Key, std::size_t N>
  Key as(const KeyField<Key> (&fields)[N]) const {
    Key key;
    for (std::size_t i = 0; i < N; ++i) fields[i].set(key, values_[i]);
    return key;
  }

  bool operator==(const BuildKey&) const = default;

 private:
  BuildKey(const Family& family, std::vector<std::int64_t> values) : family_(&family), values_(std::move(values)) {}
  const Family* family_;
  std::vector<std::int64_t> values_;
};

/// The plain fields of a list of bound ones.
template <class Key, std::size_t N>
constexpr auto plain_fields(const KeyField<Key> (&bound)[N]) {
  std::array<Field, N> fields{};
  for (std::size_t i = 0; i < N; ++i) fields[i] = bound[i].field;
  return fields;
}

/// "1..16", "0..0.5" or "8 or 16": what a field takes, for messages and listings.
std::string range_text(const Field& field);

/// Throws one UserError with all reasons why `key` can't be built for `arch` ("gfx950" or "gfx942").
void validate(const BuildKey& key, std::string_view arch);

}  // namespace monojit::kernels
