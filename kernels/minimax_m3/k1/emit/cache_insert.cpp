#include "kernels/minimax_m3/k1/emit/cache_insert.h"

#include "kernels/common/emit/division.h"
#include "kernels/common/emit/fp8.h"

namespace monojit::kernels::minimax_m3 {

namespace {

using Dims = Vec<Float32, 4>;

struct Place {
  Int32 page;
  Int32 token;
};

Place place_of(const Context& k, const Int32& slot) {
  const Int32 token = slot & (kPageTokens - 1);
  if (k.key.page_stride == kBlock / kPageTokens) return {slot >> 4, token};
  const Int32 in_block = (slot & (kBlock - 1)) >> 4;
  return {(slot >> 7) * k.key.page_stride + in_block, token};
}

template <class T>
void store_global(const Ptr<UInt8, Global>& place, const T& value, CachePolicy policy) {
  if (policy == CachePolicy::kDevice) {
    atomic_store(pointer_cast<T>(place), value, Scope::kDevice);
  } else {
    store(pointer_cast<T>(place), value);
  }
}

// A cache of 4 GiB and more needs 64-bit addresses; without page_base64 offsets wrap at 32 bits.
template <class T>
void store_at(const Context& k, const Uniform<Ptr<UInt8, Global>>& base, const Int32& unit, int unit_bytes,
              const Int32& offset, const T& value) {
  if (k.key.page_base64) {
    store_global(base + convert<Int64>(unit) * std::int64_t{unit_bytes} + offset, value, k.output_policy());
  } else {
    store(BufferResource(base), unit * unit_bytes + offset, value, {.policy = k.output_policy()});
  }
}

Float32 scale_of(const Context& k, const Dims& values, const Uniform<Ptr<Float32, Global>>& scales) {
  switch (k.key.kv_scale) {
    case KvScale::kStaticOne:
      return 1.0F;
    case KvScale::kScalarRead:
      return load(scales);
    case KvScale::kPerToken:
      break;
  }
  Float32 largest = 0.0F;
  for (const Float32 x : values) largest = max(largest, abs(x));
  largest = half_wave_max(largest);
  return select(largest > 0.0F, divide_by(largest, k.cache_max), 1.0F);
}

void store_scale(const Context& k, const HeadLane& lane, const Place& place,
                 const Uniform<Ptr<Float32, Global>>& scales, const Float32& scale) {
  if (k.key.kv_scale == KvScale::kScalarRead) return;
  If(lane.dim == 0,
     [&] { store_at(k, pointer_cast<UInt8>(scales), place.page, kPageTokens * 4, place.token * 4, scale); });
}

Int32 quantise(const Context& k, const Dims& values) {
  Dims clamped = values;
  if (k.key.saturate) {
    for (int i = 0; i < 4; ++i) clamped.set(i, saturate(values[i], k.cache_max));
  }
  return kernels::pack_fp8(clamped);
}

Dims rounded(const Dims& values) { return extend<float>(round_bf16(values)); }

}  // namespace

void insert_k(const Context& k, const HeadLane& lane, const Int32& slot, const Dims& out) {
  const Float32 scale = scale_of(k, out, k.k_scale);
  const Int32 bytes = quantise(k, rounded(out) / Dims(scale));
  If(lane.stores & (slot >= 0), [&] {
    const Place place = place_of(k, slot);
    const Int32 in_page = (lane.dim >> 4) * (kPageTokens * 16) + place.token * 16 + (lane.dim & 15);
    store_at(k, k.k_cache, place.page, kPageBytes, in_page, bytes);
    store_scale(k, lane, place, k.k_scale, scale);
  });
}

void insert_v(const Context& k, const HeadLane& lane, const Int32& slot, const Dims& e) {
  const Float32 scale = scale_of(k, e, k.v_scale);
  const Int32 bytes = quantise(k, e / Dims(scale));
  If(lane.stores & (slot >= 0), [&] {
    const Place place = place_of(k, slot);
    for (int i = 0; i < 4; ++i) {
      const Int32 in_page = (lane.dim + i) * kPageTokens + place.token;
      store_at(k, k.v_cache, place.page, kPageBytes, in_page, truncate<UInt8>(shr_logical(bytes, 8 * i)));
    }
    store_scale(k, lane, place, k.v_scale, scale);
  });
}

void insert_index_k(const Context& k, const HeadLane& lane, const Int32& slot, const Dims& out) {
  const Int32 bytes = quantise(k, rounded(out));
  If(lane.stores & (slot >= 0), [&] { store_at(k, k.index_cache, slot, kHeadDim, lane.dim, bytes); });
}

}  // namespace monojit::kernels::minimax_m3
