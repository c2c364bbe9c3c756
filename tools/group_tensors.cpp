#include "tools/group_tensors.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/error.h"
#include "kernels/common/reference/tensors.h"

namespace monojit::tools {
namespace {

using namespace kernels::kimi_k3;

constexpr std::string_view kArch = "gfx950";
constexpr std::string_view kBefore = "in/";
constexpr std::string_view kRank = "rank";
constexpr std::string_view kExpertTensors[] = {"w13", "w13s", "w2", "w2s"};

/// Whose tensor an entry is: "rank3/core".
struct Place {
  std::optional<int> rank;  ///< nothing: every rank's
  std::string name;
};

Place place_of(const std::filesystem::path& file, const std::string& entry, const RankMemory& tensors) {
  Place place{.rank = {}, .name = entry};
  const auto slash = entry.find('/');
  if (slash != std::string::npos) {
    const std::string owner = entry.substr(0, slash);
    for (int rank = 0; rank < kRanks; ++rank) {
      if (owner == fmt::format("{}{}", kRank, rank)) place.rank = rank;
    }
    if (!place.rank) {
      throw UserError(
          fmt::format("{}: '{}': '{}' is no rank; ranks are rank0..rank{}", file.string(), entry, owner, kRanks - 1));
    }
    place.name = entry.substr(slash + 1);
  }
  if (tensors.has(place.name)) return place;
  std::vector<std::string> names;
  for (const TensorView& view : tensors.views()) names.push_back(view.name);
  throw UserError(fmt::format("{}: '{}': a rank has no tensor '{}'; tensors are {}", file.string(), entry, place.name,
                              fmt::join(names, ", ")));
}

void replace(const std::filesystem::path& file, const FileTensor& given, const TensorView& tensor) {
  const std::string_view wanted = file_dtype(tensor.dtype, kArch);
  if (given.dtype != wanted) {
    throw UserError(
        fmt::format("{}: tensor '{}' is {}, the kernel wants {}", file.string(), given.name, given.dtype, wanted));
  }
  const bool scalar = given.shape.empty() && tensor.shape == std::vector<std::int64_t>{1};
  if (given.shape != tensor.shape && !scalar) {
    throw UserError(fmt::format("{}: tensor '{}' has shape {}, the kernel wants {}", file.string(), given.name,
                                kernels::reference::shape_text(given.shape),
                                kernels::reference::shape_text(tensor.shape)));
  }
  std::ranges::copy(given.bytes, tensor.bytes.begin());
}

FileTensor copy_of(std::string name, const TensorView& tensor) {
  return {std::move(name),
          std::string(file_dtype(tensor.dtype, kArch)),
          tensor.shape,
          {tensor.bytes.begin(), tensor.bytes.end()}};
}

bool same_on_all(const GroupMemory& memory, const std::string& name) {
  return std::ranges::all_of(memory, [&](const RankMemory& rank) {
    return std::ranges::equal(rank.view(name).bytes, memory[0].view(name).bytes);
  });
}

}  // namespace

bool is_expert_tensor(std::string_view name) {
  return std::ranges::find(kExpertTensors, name) != std::end(kExpertTensors);
}

std::set<std::string> replace_group_tensors(const std::filesystem::path& file, const GroupMemory& memory) {
  std::vector<FileTensor> given = read_safetensors(file);
  const auto is_before = [](const FileTensor& tensor) { return tensor.name.starts_with(kBefore); };
  if (std::ranges::any_of(given, is_before)) {
    std::erase_if(given, [&](const FileTensor& tensor) { return !is_before(tensor); });
    for (FileTensor& tensor : given) tensor.name.erase(0, kBefore.size());
  }
  // Every rank's first, so that one rank's own win.
  std::ranges::stable_partition(given,
                                [](const FileTensor& tensor) { return tensor.name.find('/') == tensor.name.npos; });
  std::set<std::string> replaced;
  for (const FileTensor& tensor : given) {
    const Place place = place_of(file, tensor.name, memory[0]);
    for (int rank = 0; rank < kRanks; ++rank) {
      if (place.rank.value_or(rank) != rank) continue;
      replace(file, tensor, memory[static_cast<std::size_t>(rank)].view(place.name));
      replaced.insert(fmt::format("{}{}/{}", kRank, rank, place.name));
    }
  }
  return replaced;
}

std::vector<FileTensor> tensors_before(const GroupMemory& memory) {
  std::vector<FileTensor> tensors;
  for (const TensorView& view : memory[0].views()) {
    if (is_expert_tensor(view.name)) continue;
    if (same_on_all(memory, view.name)) {
      tensors.push_back(copy_of(fmt::format("{}{}", kBefore, view.name), view));
      continue;
    }
    for (std::size_t rank = 0; rank < memory.size(); ++rank) {
      tensors.push_back(
          copy_of(fmt::format("{}{}{}/{}", kBefore, kRank, rank, view.name), memory[rank].view(view.name)));
    }
  }
  return tensors;
}

void save_group_tensors(const std::filesystem::path& file, std::vector<FileTensor> before, const GroupMemory& memory,
                        const FileMetadata& metadata) {
  for (const TensorShape& shape : rank_shapes(K2Key{})) {
    if (!shape.written) continue;
    const std::string name(shape.name);
    for (std::size_t rank = 0; rank < memory.size(); ++rank)
      before.push_back(copy_of(fmt::format("{}{}/{}", kRank, rank, name), memory[rank].view(name)));
  }
  write_safetensors(file, before, metadata);
}

}  // namespace monojit::tools
