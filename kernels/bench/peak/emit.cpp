#include "kernels/bench/peak/emit.h"

#include "kernels/bench/peak/emit_units.h"
#include "kernels/bench/peak/key.h"

namespace monojit::kernels::bench {

using namespace monojit::ir;

namespace {

constexpr int kTileColumns = 16;
constexpr int kDecodeBatch = 8;

}  // namespace

Float32 seed(const Int32& lane, int index) {
  const Int32 mixed = (lane * 37 + index * 101) & 127;
  return convert<Float32>(mixed) * (1.0F / 64) - 1.0F;
}

void emit_peak(Kernel& kernel, const BuildKey& build_key) {
  const auto out = kernel.argument<Ptr<Float32, Global>>("out");
  const auto rounds = kernel.argument<Int32>("rounds");
  const bool wide = kernel.target().arch == "gfx950";
  const Float32 result = [&] {
    switch (peak_key(build_key).unit) {
      case PeakUnit::kValu:
        return valu(rounds);
      case PeakUnit::kLds:
        return lds(rounds);
      case PeakUnit::kMfmaBf16:
        return mfma_bf16(rounds, wide, kTileColumns);
      case PeakUnit::kMfmaBf16Batch8:
        return mfma_bf16(rounds, wide, kDecodeBatch);
      case PeakUnit::kMfmaFp4:
        return mfma_fp4(rounds);
      case PeakUnit::kCopy:
        return copy(out, rounds);
    }
    __builtin_unreachable();
  }();
  store(out + (workgroup_id() * kPeakThreads + thread_id()), result);
}

}  // namespace monojit::kernels::bench
