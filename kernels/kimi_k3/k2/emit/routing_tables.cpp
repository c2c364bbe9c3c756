#include "kernels/kimi_k3/k2/emit/routing_tables.h"

namespace monojit::kernels::kimi_k3 {

namespace {

constexpr int kThreadExperts = 2;
constexpr int kNoPick = -1;

void clear(const Context& k) {
  If(thread_id() < kExperts / kThreadExperts,
     [&] { store(k.lds.flag + thread_id() * kThreadExperts, Vec<Int32, 2>(0)); });
  static_assert(kMaxUnion * kMaxTokens == 2 * kThreads);
  store(k.lds.kof + thread_id() * 2, Vec<Int32, 2>(kNoPick));
}

// The expert that thread (token, pick) routes to.
Int32 picked_expert(const Context& k) {
  const Int32 token = thread_id() / kTopExperts;
  const Int32 id = load(k.lds.route + (token * (2 * kTopExperts) + thread_id() % kTopExperts));
  return max(min(id, kExperts - 1), 0);
}

// Slots of the experts 2 thread and 2 thread + 1; the number of all.
Uniform<Int32> number_slots(const Context& k) {
  const Int32 first = min(thread_id() * kThreadExperts, kExperts - kThreadExperts);
  const Vec<Int32, 2> flags = load<2>(k.lds.flag + first);
  const Bool owner = thread_id() < kExperts / kThreadExperts;
  const Bool even = owner & (flags[0] != 0);
  const Bool odd = owner & (flags[1] != 0);
  const Uniform<Int64> evens = ballot(even);
  const Uniform<Int64> odds = ballot(odd);
  const Int32 before = mbcnt(odds, mbcnt(evens));
  If(lane_id() == 0, [&] { store(k.lds.scan + wave_id(), Int32(bit_count(evens) + bit_count(odds))); });
  barrier();
  Uniform<Int32> earlier = 0;
  Uniform<Int32> all = 0;
  const Int32 mine = load(k.lds.scan + lane_id() % kWaves);
  for (int wave = 0; wave < kWaves; ++wave) {
    const Uniform<Int32> of_wave = readlane(mine, wave);
    earlier = select(wave_id() == wave, all, earlier);
    all = all + of_wave;
  }
  const Int32 slot = before + earlier;
  const auto enter = [&](const Bool& picked, const Int32& expert, const Int32& number) {
    If(picked, [&] {
      store(k.lds.flag + expert, number);
      store(k.lds.expert + number, expert);
    });
  };
  enter(even, first, slot);
  enter(odd, first + 1, slot + select(even, Int32(1), Int32(0)));
  barrier();
  return all;
}

}  // namespace

Uniform<Int32> build_routing_tables(const Context& k) {
  const Region& region = k.scratch_map.route;
  If(thread_id() < static_cast<int>(region.count()),
     [&] { store(k.lds.route + thread_id(), k.box(region).poll(thread_id())); });
  clear(k);
  barrier();  // the first since quantise_latent() and, in front of it, the stages that leave `red` or rows
  const Bool is_pick = thread_id() < kTopExperts * k.tokens();
  // Several tokens may pick one expert: threads of different waves write the same word.
  If(is_pick, [&] { atomic<AtomicOp::kOr>(k.lds.flag + picked_expert(k), 1, Scope::kWorkgroup); });
  barrier();
  const Uniform<Int32> slots = number_slots(k);
  If(is_pick, [&] {
    const Int32 slot = load(k.lds.flag + picked_expert(k));
    store(k.lds.kof + (slot * kMaxTokens + thread_id() / kTopExperts), thread_id() % kTopExperts);
  });
  return slots;
}

}  // namespace monojit::kernels::kimi_k3
