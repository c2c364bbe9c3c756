#include "kernels/minimax_m3/k1/emit/index_keys.h"

#include "kernels/common/emit/lane_transpose.h"

namespace monojit::kernels::minimax_m3 {

namespace {

constexpr int kBlockBytes = kBlock * kHeadDim;
constexpr int kLaneBytes = 32;

using Eight = Vec<BFloat16, 8>;

// FP8 is exact in bf16.
Eight widen(const Vec<Int32, 2>& bytes) {
  if (target().chip == Chip::kGfx950) {
    constexpr auto kFp8 = MxFormat::kFp8;
    return concat(concat(mx_unpack8_bf16<kFp8, 0>(bytes[0], 1.0F), mx_unpack8_bf16<kFp8, 1>(bytes[0], 1.0F)),
                  concat(mx_unpack8_bf16<kFp8, 0>(bytes[1], 1.0F), mx_unpack8_bf16<kFp8, 1>(bytes[1], 1.0F)));
  }
  Vec<Int32, 4> words = 0;
  for (int i = 0; i < 2; ++i) {
    for (int half = 0; half < 2; ++half) {
      const auto pair = half == 0 ? cvt_pk_f32_fp8<0>(bytes[i]) : cvt_pk_f32_fp8<1>(bytes[i]);
      constexpr std::int32_t kUpperHalves = 0x07060302;
      words.set(2 * i + half, byte_permute(bitcast<Int32>(pair[1]), bitcast<Int32>(pair[0]), kUpperHalves));
    }
  }
  return bitcast<Eight>(words);
}

Vec<Float32, 4> multiply_chunk(const Eight& a, const Eight& b, const Vec<Float32, 4>& sum) {
  if (target().chip == Chip::kGfx950) return mfma_f32_16x16x32_bf16(a, b, sum);
  return mfma_f32_16x16x16_bf16(a.high(), b.high(), mfma_f32_16x16x16_bf16(a.low(), b.low(), sum));
}

}  // namespace

RawTile load_key_tile(const Context& k, const Uniform<Int32>& page, const Int32& tile) {
  const Int32 key = tile * kTileKeys + lane_id() % kTileKeys;
  const Int32 byte = key * kHeadDim + lane_id() / kTileKeys * kLaneBytes;
  if (!k.key.page_base64) {
    const BufferResource cache(k.index_cache);
    const Int32 offset = page * kBlockBytes + byte;
    return {load<Vec<Int32, 4>>(cache, offset), load<Vec<Int32, 4>>(cache, offset, {.offset = 16})};
  }
  const auto block = k.index_cache + convert<Int64>(page) * std::int64_t{kBlockBytes};
  const auto lane = pointer_cast<Int32>(block + byte);
  return {load<4>(lane), load<4>(lane + 4)};
}

KeyOperand key_operand(const RawTile& raw) {
  std::array<Vec<Int32, 2>, 4> parts = {raw[0].low(), raw[0].high(), raw[1].low(), raw[1].high()};
  transpose_lane_groups(parts);
  return {widen(parts[0]), widen(parts[1]), widen(parts[2]), widen(parts[3])};
}

Vec<Float32, 4> multiply(const KeyOperand& keys, const QueryOperand& queries) {
  Vec<Float32, 4> sum = 0.0F;
  for (std::size_t chunk = 0; chunk < keys.size(); ++chunk) sum = multiply_chunk(keys[chunk], queries[chunk], sum);
  return sum;
}

}  // namespace monojit::kernels::minimax_m3
