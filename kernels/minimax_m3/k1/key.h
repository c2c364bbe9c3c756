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
  int page_stride = 16;
  KvScale kv_scale = KvScale::kPerToken;
  float eps = 1e-6F;
  bool saturate = true;
  bool page_base64 = true;
  bool weight_nt = false;
  bool timeline = false;
  bool scorer = false;
};

inline constexpr Choice kPageStrides[] = {{"8", 8}, {"16", 16}};
inline constexpr Choice kKvScales[] = {{"per_token", 0}, {"static_one", 1}, {"scalar_read", 2}};

inline constexpr KeyField<K1Key> kK1Fields[] = {
    required_integer<&K1Key::tokens>("tokens", "rows of the decode batch (S)", 1, 2),
    integer<&K1Key::index_heads>("index_heads", "index query heads projected on this rank", 1, 1, 1),
    choice<&K1Key::page_stride>("page_stride", "page-16 ids that a block of 128 keys spans", kPageStrides, 16),
    choice<&K1Key::kv_scale>("kv_scale", "scale of the FP8 K and V rows", kKvScales, 0),
    float32<&K1Key::eps>("eps", "added to every mean square", 0.0F, 1.0F, std::bit_cast<float>(0x358637BDU)),
    integer<&K1Key::saturate>("saturate", "clamp to the FP8 range before the cache conversions", 0, 1, 1),
    integer<&K1Key::page_base64>("page_base64", "64-bit page addresses: caches of 4 GiB and more", 0, 1, 1),
    integer<&K1Key::weight_nt>("weight_nt", "stream the weights with the non-temporal policy", 0, 1, 0),
    integer<&K1Key::timeline>("timeline", "write time stamps of the stages", 0, 1, 0),
    integer<&K1Key::scorer>("scorer", "score the index blocks (not built yet)", 0, 0, 0),
};

inline K1Key k1_key(const BuildKey& key) { return key.as(kK1Fields); }

extern const Family kK1;

}  // namespace monojit::kernels::minimax_m3
