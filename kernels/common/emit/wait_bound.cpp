#include "kernels/common/emit/wait_bound.h"

#include "kernels/common/health.h"

namespace monojit::kernels {

using namespace monojit::ir;

namespace {

constexpr int kSleep = 1;
constexpr int kFailedWord = 0;
constexpr int kRecordBytes = 4 * kHealthRecordWords;
constexpr BufferAccess kSeenByHost{.policy = CachePolicy::kSystem, .repeat = true};
constexpr std::int32_t kPositive = 0x7FFFFFFF;

}  // namespace

void WaitBound::retry(const std::function<Look()>& look, const Awaited& what) const {
  if (!on_) {
    DoWhile([&] {
      s_sleep(kSleep);
      return any(look().missing);
    });
    return;
  }
  const Uniform<Int64> start = s_memrealtime();
  DoWhile([&] {
    s_sleep(kSleep);
    const Look seen = look();
    const Uniform<Bool> missing = any(seen.missing);
    const Uniform<Bool> failed = uniform(load<Int32>(health_, kFailedWord, kSeenByHost)) != 0;
    const Uniform<Int64> now = s_memrealtime();
    const Uniform<Int64> waited = now - start;
    const Uniform<Bool> over = failed | (waited > kWaitBoundTicks);
    IfRarely(missing & over & (waited > kWaitToldTicks), [&] { record(seen, what, now); });
    return missing & !over;
  });
}

// One lane writes, of those that miss something. The record is there before word 0 says so.
void WaitBound::record(const Look& last, const Awaited& what, const Uniform<Int64>& now) const {
  If(last.missing, [&] { If(lane_id() == readfirstlane(lane_id()), [&] { write(last, what, now); }); });
}

void WaitBound::write(const Look& last, const Awaited& what, const Uniform<Int64>& now) const {
  const Uniform<Int32> workgroup = workgroup_id();
  const Int32 place = (workgroup + 1) * kRecordBytes;
  If(load<Int32>(health_, place, kSeenByHost) == 0, [&] {
    const Int32 clock = truncate<Int32>(now) & kPositive;
    const SeenPair pair = last.first_missing();
    store(health_, place,
          vec(Int32(1), Int32(static_cast<std::int32_t>(region_id(what.region))), pair.index, Int32(what.tag)),
          kSeenByHost);
    store(health_, place, vec(pair.tag, Int32(workgroup), clock, Int32(0)),
          {.offset = 16, .policy = CachePolicy::kSystem});
  });
  if (alarm_) atomic_store(static_cast<const Ptr<Int32, Global>&>(*alarm_), 1, Scope::kSystem);
  wait_vmcnt(0);
  store(health_, kFailedWord, Int32(1), kSeenByHost);
}

}  // namespace monojit::kernels
