#pragma once

#include <array>

#include "ir/dsl.h"
#include "kernels/common/emit/gemv_tile.h"
#include "kernels/common/emit/mailbox.h"
#include "kernels/common/emit/timeline.h"
#include "kernels/kimi_k3/k2/key.h"
#include "kernels/kimi_k3/k2/layout.h"
#include "kernels/kimi_k3/k2/roles.h"
#include "kernels/kimi_k3/k2/timeline.h"

namespace monojit::kernels::kimi_k3 {

using namespace monojit::ir;

/// LDS (specification §4): `red` and the routing tables live all the time, the others share memory stage by stage. A
/// stage ends with a barrier only where none lies between it and the next that writes to the same memory; the
/// emulator's check for races tells whether that is so.
struct Lds {
  LdsArray<Float32> red;
  LdsArray<Int32> route, flag, expert, kof, scan;
  LdsArray<BFloat16> rows;
  LdsArray<Float32> vals, delta;
  LdsArray<Int32> latent_words, latent_scales;
  LdsArray<Float32> values;
  LdsArray<Int32> inter_words, inter_scales;
  LdsArray<Float32> contributions;
};

/// What the stages share: key, arguments (specification §3.3), LDS, mailboxes.
class Context {
 public:
  Context(Kernel& kernel, const K2Key& k2_key);

  int tokens() const { return key.tokens; }
  int sources() const { return key.sources(); }

  /// Pairs of a region of the scratch, and of this rank's own peer buffer.
  Mailbox box(const Region& region) const;
  Mailbox peer_box(const Region& region) const;
  /// Hands a word over to all eight ranks, this one among them.
  void push(const Region& region, const Int32& pair, const Int32& word) const;

  /// Plain rows in the scratch, seen by the whole device: `element` is of the region's 2-byte elements.
  template <class T>
  T load_shared(const Region& region, const Int32& element) const {
    return load<T>(scratch_, element * 2, shared(region));
  }
  template <class T>
  void store_shared(const Region& region, const Int32& element, const T& value) const {
    store(scratch_, element * 2, value, shared(region));
  }
  /// Sets flag `index` of `region` behind all stores of the workgroup so far (specification §5.4).
  void publish(const Region& region, const Int32& index) const;

  K2Key key;
  ScratchLayout scratch_map;
  PeerLayout peer_map;
  Uniform<Int32> workgroup, rank, epoch, layer;
  Uniform<Ptr<BFloat16, Global>> core, w_o, prefix, blocks, ares_nw, ares_qk, in_nw, w_gate, w_ld, w_sgu, w_sd, ln_w,
      w_up, out;
  Uniform<Ptr<Float32, Global>> bias;
  Uniform<Ptr<Int32, Global>> w13, w13s, w2, w2s;
  Uniform<Int32> blk_sm, blk_sr;
  Lds lds;
  Timeline timeline;

 private:
  static BufferAccess shared(const Region& region) {
    return {.scalar_offset = Uniform<Int32>(static_cast<std::int32_t>(region.offset)), .policy = CachePolicy::kDevice};
  }
  void bind(const Kernel& kernel);
  void place_lds();

  Uniform<Int32> tag_;
  BufferResource scratch_, own_peer_;
  std::array<Uniform<Ptr<UInt8, Global>>, kRanks> peers_;  // the half of this step in each rank's buffer
  WaitBound bound_;
};

/// Two bf16 in a word, the even column in the low half.
Int32 word_of(const Vec<Float32, 2>& values);
Vec<Float32, 2> values_of(const Int32& word);

}  // namespace monojit::kernels::kimi_k3
