#include "kernels/minimax_m3/k1/memory_map.h"

#include <fmt/format.h>

#include "kernels/minimax_m3/k1/key.h"
#include "kernels/minimax_m3/k1/layout.h"

namespace monojit::kernels::minimax_m3 {
namespace {

template <std::size_t N>
Region place(std::int64_t offset, std::string_view name, Content content, const Axis (&axes)[N],
             std::string_view meaning) {
  Placer at;
  at.go_to(offset);
  return at.place(name, content, axes, meaning);
}

MemoryMap scratch(const K1Key& key) {
  const Axis token{"token", key.tokens};
  MemoryMap map{"scratch", "zeroed once; every launch leaves its tags in it", kScratchBytes, {}};
  map.regions.push_back(place(kScratchQkv, "qkv", Content::kFloat32Pair,
                              {token, {"row", projection_rows(key.index_heads)}}, "projected rows"));
  if (key.tokens > kSelfNormTokens) {
    map.regions.push_back(
        place(kScratchX8, "x8", Content::kFp8, {token, {"column", kHidden}}, "normed activations, behind x8_scale"));
  }
  if (key.bounded) {
    map.regions.push_back(place(kScratchHealth, "health", Content::kInt32,
                                {{"record", kWorkgroups + 1}, {"word", kHealthRecordWords}},
                                "why waits gave up: word 0, then a record a workgroup"));
  }
  if (key.tokens > kSelfNormTokens) {
    map.regions.push_back(place(kScratchX8Scale, "x8_scale", Content::kFloat32Pair, {token}, "scale of a row of x8"));
  }
  if (key.signal) {
    map.regions.push_back(place(kScratchHeadsDone, "heads_done", Content::kWordPair, {token, {"head", kHeadTasks}},
                                "flag: this head task of the token is stored"));
    map.regions.push_back(
        place(kScratchRowsDone, "rows_done", Content::kWordPair, {token}, "flag: the token is stored"));
  }
  return map;
}

}  // namespace

std::vector<MemoryMap> k1_memory_map(const BuildKey& build_key) {
  const K1Key key = k1_key(build_key);
  std::vector<MemoryMap> maps = {scratch(key)};
  if (!key.scorer) return maps;
  const Region scores = place(0, "iscore", Content::kFloat32Pair, {{"row", kMaxTokens}, {"pair", kScorePairs}},
                              "scores of the key blocks");
  maps.push_back({"iscore", fmt::format("argument; {} rows of it are written", key.tokens), scores.bytes(), {scores}});
  return maps;
}

}  // namespace monojit::kernels::minimax_m3
