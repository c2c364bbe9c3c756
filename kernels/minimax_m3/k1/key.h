#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/family.h"

namespace monojit::kernels::minimax_m3 {

enum class KvScale : std::uint8_t {
  kPerToken,    ///< K and V of a token scaled by its largest magnitude; the scale is stored
  kStaticOne,   ///< scale 1, stored all the same
  kScalarRead,  ///< one scale for all, read from memory; nothing stored
};

/// Build key of K1, the front half of a sparse MoE layer (specification §2).
struct K1Key {
  int tokens = 1;
  int index_heads = 1;
  int index_own = 0;
  int init_blocks = 0;
  int local_blocks = 1;
  int page_stride = 16;
  KvScale kv_scale = KvScale::kPerToken;
  float eps = 1e-6F;
  float sm_scale = std::bit_cast<float>(0x3DB504F3U);  // 128^-0.5
  bool signal = false;
  bool saturate = true;
  bool page_base64 = true;
  bool weight_nt = false;
  bool timeline = false;
  bool scorer = true;
  bool flag_drain = true;
  bool bounded = true;
};

/// Pinned blocks at most: as many as the selector takes.
inline constexpr int kTopBlocks = 16;

inline constexpr Choice kIndexHeads[] = {{"1", 1}, {"4", 4}};
inline constexpr Choice kPageStrides[] = {{"8", 8}, {"16", 16}};
inline constexpr Choice kKvScales[] = {{"per_token", 0}, {"static_one", 1}, {"scalar_read", 2}};

inline constexpr KeyField<K1Key> kK1Fields[] = {
    required_integer<&K1Key::tokens>("tokens", "rows of the decode batch (S)", 1, 16),
    choice<&K1Key::index_heads>("index_heads", "index query heads projected on this rank", kIndexHeads, 1),
    integer<&K1Key::index_own>("index_own", "the index query head that this rank selects with", 0, 3, 0),
    integer<&K1Key::init_blocks>("init_blocks", "first blocks of a request that are always selected, never scored", 0,
                                 kTopBlocks - 1, 0),
    integer<&K1Key::local_blocks>("local_blocks", "last blocks of a request that are always selected, never scored", 1,
                                  kTopBlocks, 1),
    choice<&K1Key::page_stride>("page_stride", "page-16 ids that a block of 128 keys spans", kPageStrides, 16),
    choice<&K1Key::kv_scale>("kv_scale", "scale of the FP8 K and V rows", kKvScales, 0),
    float32<&K1Key::eps>("eps", "added to every mean square", 0.0F, 1.0F, std::bit_cast<float>(0x358637BDU)),
    float32<&K1Key::sm_scale>("sm_scale", "softmax scale of the attention, part of every score", 0.0F, 1.0F,
                              std::bit_cast<float>(0x3DB504F3U)),
    integer<&K1Key::signal>("signal", "set a flag behind every output, for a consumer in the same launch", 0, 1, 0),
    integer<&K1Key::saturate>("saturate", "clamp to the FP8 range before the cache conversions", 0, 1, 1),
    integer<&K1Key::page_base64>("page_base64", "64-bit page addresses: caches of 4 GiB and more", 0, 1, 1),
    integer<&K1Key::weight_nt>("weight_nt", "stream the weights with the non-temporal policy", 0, 1, 0),
    integer<&K1Key::timeline>("timeline", "write time stamps of the stages", 0, 1, 0),
    integer<&K1Key::scorer>("scorer", "score the index blocks", 0, 1, 1),
    integer<&K1Key::flag_drain>("flag_drain", "wait for stores to finish before the flag that stands for them", 0, 1,
                                1),
    integer<&K1Key::bounded>("bounded", "give up a wait after 10 s and leave a health record", 0, 1, 1),
};

inline K1Key k1_key(const BuildKey& key) { return key.as(kK1Fields); }

extern const Family kK1;

}  // namespace monojit::kernels::minimax_m3
