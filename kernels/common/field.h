#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace monojit::kernels {

enum class FieldKind : std::uint8_t {
  kInteger,  ///< any whole number of first..last
  kChoice,   ///< one of `choices`, written by its name
  kFloat32,  ///< an f32 of first..last, kept as its bit pattern; zero has no sign
};

struct Choice {
  std::string_view name;
  std::int64_t value;
};

/// One scalar of a build key. The list of a family's fields is the only place that knows them: text, bytes, JSON,
/// symbol and command line all come from it.
struct Field {
  std::string_view name;
  std::string_view meaning;
  FieldKind kind = FieldKind::kInteger;
  std::int64_t first = 0;                ///< not of a choice; of a kFloat32 the bit pattern
  std::int64_t last = 0;                 ///< likewise
  std::span<const Choice> choices;       ///< kChoice only
  std::optional<std::int64_t> fallback;  ///< the value of a field that is left out
};

/// A field bound to the member of the typed key that it fills.
template <class Key>
struct KeyField {
  Field field;
  void (*set)(Key&, std::int64_t);
};

namespace detail {
template <auto Member>
struct MemberOf;
template <class Class, class Type, Type Class::* Member>
struct MemberOf<Member> {
  using Key = Class;
  static void set(Key& key, std::int64_t value) {
    if constexpr (std::is_same_v<Type, float>) {
      key.*Member = std::bit_cast<float>(static_cast<std::uint32_t>(value));
    } else {
      key.*Member = static_cast<Type>(value);
    }
  }
};
}  // namespace detail

/// A whole number of first..last that has to be given.
template <auto Member>
constexpr auto required_integer(std::string_view name, std::string_view meaning, std::int64_t first,
                                std::int64_t last) {
  using M = detail::MemberOf<Member>;
  return KeyField<typename M::Key>{{name, meaning, FieldKind::kInteger, first, last, {}, std::nullopt}, M::set};
}

template <auto Member>
constexpr auto integer(std::string_view name, std::string_view meaning, std::int64_t first, std::int64_t last,
                       std::int64_t fallback) {
  using M = detail::MemberOf<Member>;
  return KeyField<typename M::Key>{{name, meaning, FieldKind::kInteger, first, last, {}, fallback}, M::set};
}

template <auto Member>
constexpr auto choice(std::string_view name, std::string_view meaning, std::span<const Choice> choices,
                      std::int64_t fallback) {
  using M = detail::MemberOf<Member>;
  return KeyField<typename M::Key>{{name, meaning, FieldKind::kChoice, 0, 0, choices, fallback}, M::set};
}

template <auto Member>
constexpr auto float32(std::string_view name, std::string_view meaning, float first, float last, float fallback) {
  using M = detail::MemberOf<Member>;
  const auto bits = [](float value) { return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(value)); };
  return KeyField<typename M::Key>{{name, meaning, FieldKind::kFloat32, bits(first), bits(last), {}, bits(fallback)},
                                   M::set};
}

}  // namespace monojit::kernels
