#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Layouts of the memory that a kernel's workgroups, a group's ranks and the host share: typed tables, the only place
/// that knows an offset. Kernel and host compute the same indices from them, and they print as a map.
namespace monojit::kernels {

/// What an element of a region holds. A pair is 8 bytes: a 32-bit value and the tag of the launch that wrote it.
enum class Content : std::uint8_t {
  kFloat32Pair,
  kBFloat16Pair,  ///< the value is two bf16, the even column in the low half
  kWordPair,      ///< the value is an integer or raw bits
  kFloat32,
  kInt32,
  kBFloat16,
  kFp8,
};

inline constexpr int kTaggedPairBytes = 8;

constexpr bool is_pair(Content content) { return content <= Content::kWordPair; }
constexpr std::int64_t element_bytes(Content content) {
  if (is_pair(content)) return kTaggedPairBytes;
  if (content == Content::kFp8) return 1;
  return content == Content::kBFloat16 ? 2 : 4;
}
/// "f32 pairs", "bf16".
std::string_view content_name(Content content);

/// One index of a region and how many values it takes.
struct Axis {
  std::string_view name;
  int extent = 1;
};

/// An array of elements in row-major order.
struct Region {
  static constexpr int kMaxAxes = 4;

  std::string_view name;
  Content content = Content::kFloat32Pair;
  std::int64_t offset = 0;  ///< bytes, from the start of the memory it lies in
  std::array<Axis, kMaxAxes> axes{};
  int rank = 0;  ///< axes in use
  std::string_view meaning;

  constexpr std::int64_t count() const {
    std::int64_t elements = 1;
    for (int axis = 0; axis < rank; ++axis) elements *= axes[axis].extent;
    return elements;
  }
  constexpr std::int64_t bytes() const { return count() * element_bytes(content); }
  constexpr std::int64_t end() const { return offset + bytes(); }

  /// The element at these indices, one for each axis: numbers on the host, values of the DSL in a kernel.
  template <class First, class... Rest>
  constexpr auto at(const First& first, const Rest&... rest) const {
    return walk<1>(first, rest...);
  }

 private:
  template <int kAxis, class Index>
  constexpr Index walk(const Index& index) const {
    return index;
  }
  template <int kAxis, class Index, class Next, class... Rest>
  constexpr auto walk(const Index& index, const Next& next, const Rest&... rest) const {
    static_assert(kAxis < kMaxAxes);
    return walk<kAxis + 1>(index * axes[kAxis].extent + next, rest...);
  }
};

/// Puts regions one behind the other.
class Placer {
 public:
  template <std::size_t N>
  constexpr Region place(std::string_view name, Content content, const Axis (&axes)[N], std::string_view meaning) {
    static_assert(N <= Region::kMaxAxes);
    Region region{.name = name, .content = content, .offset = end_, .rank = N, .meaning = meaning};
    for (std::size_t i = 0; i < N; ++i) region.axes[i] = axes[i];
    end_ = region.end();
    return region;
  }
  constexpr void align(std::int64_t bytes) { end_ = (end_ + bytes - 1) / bytes * bytes; }
  constexpr std::int64_t end() const { return end_; }
  /// Goes on from an earlier or later place: for regions that share memory.
  constexpr void go_to(std::int64_t offset) { end_ = offset; }

 private:
  std::int64_t end_ = 0;
};

/// One memory of a kernel and the regions in it.
struct MemoryMap {
  std::string_view memory;
  std::string meaning;
  std::int64_t bytes = 0;
  std::vector<Region> regions;
};

/// "(token*9 + source)*2 + value": how an element's number follows from the indices.
std::string index_formula(const Region& region);

/// The maps as text: a heading for each memory, and a line a region with offset, size, content, axes and formula.
std::string layout_text(std::span<const MemoryMap> maps);

}  // namespace monojit::kernels
