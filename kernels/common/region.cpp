#include "kernels/common/region.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace monojit::kernels {
namespace {

std::string axes_text(const Region& region) {
  std::string text;
  for (int i = 0; i < region.rank; ++i) text += fmt::format("[{} {}]", region.axes[i].name, region.axes[i].extent);
  return text;
}

}  // namespace

std::string_view content_name(Content content) {
  switch (content) {
    case Content::kFloat32Pair:
      return "f32 pairs";
    case Content::kBFloat16Pair:
      return "bf16x2 pairs";
    case Content::kWordPair:
      return "word pairs";
    case Content::kFloat32:
      return "f32";
    case Content::kInt32:
      return "int32";
    case Content::kBFloat16:
      return "bf16";
    case Content::kFp8:
      return "FP8";
  }
  return "unknown";
}

std::string index_formula(const Region& region) {
  std::string text(region.axes[0].name);
  for (int i = 1; i < region.rank; ++i) {
    if (i > 1) text = "(" + text + ")";
    text += fmt::format("*{} + {}", region.axes[i].extent, region.axes[i].name);
  }
  return text;
}

std::string layout_text(std::span<const MemoryMap> maps) {
  std::string text;
  for (const MemoryMap& map : maps) {
    std::size_t name_width = 0;
    for (const Region& region : map.regions) name_width = std::max(name_width, region.name.size());
    text += fmt::format("{}{}: {} bytes, {}\n", text.empty() ? "" : "\n", map.memory, map.bytes, map.meaning);
    text += fmt::format("  {:>9} {:>9}  {:{}}  content, indices: number of the element\n", "offset", "bytes", "region",
                        name_width);
    for (const Region& region : map.regions) {
      text +=
          fmt::format("  {:>9} {:>9}  {:{}}  {} {}: {}; {}\n", region.offset, region.bytes(), region.name, name_width,
                      content_name(region.content), axes_text(region), index_formula(region), region.meaning);
    }
  }
  return text;
}

}  // namespace monojit::kernels
