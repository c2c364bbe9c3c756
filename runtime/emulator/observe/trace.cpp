#include "runtime/emulator/observe/trace.h"

#include <algorithm>
#include <utility>

namespace monojit::emulator {
namespace {

constexpr std::size_t kMostSpans = 1'000'000;  // of a launch; viewers become slow with more
constexpr u64 kBetweenLaunches = 100;

bool wakes_with_a_round(SpanKind kind) {
  return kind == SpanKind::kSleep || kind == SpanKind::kPoll || kind == SpanKind::kYield;
}

}  // namespace

u64 Trace::begin_launch() {
  const std::lock_guard lock(mutex_);
  if (running_++ == 0 && !fresh_) round_begin_ = latest_ + kBetweenLaunches;
  fresh_ = false;
  latest_ = std::max(latest_, round_begin_);
  return round_begin_;
}

void Trace::end_launch(TracedLaunch launch) {
  const std::lock_guard lock(mutex_);
  --running_;
  launches_.push_back(std::move(launch));
}

u64 Trace::round_begin() const {
  const std::lock_guard lock(mutex_);
  return round_begin_;
}

void Trace::note_time(u64 time) {
  const std::lock_guard lock(mutex_);
  latest_ = std::max(latest_, time);
}

void Trace::end_round() {
  const std::lock_guard lock(mutex_);
  latest_ = round_begin_ = std::max(latest_, round_begin_ + 1);
}

std::vector<TracedLaunch> Trace::take() {
  const std::lock_guard lock(mutex_);
  if (running_ == 0) fresh_ = true, round_begin_ = latest_ = 0;
  return std::exchange(launches_, {});
}

LaunchRecorder::LaunchRecorder(Trace& trace, const Program& program) : trace_(trace), program_(program) {
  launch_.kernel = program.kernel;
  launch_.begin = launch_.end = trace.begin_launch();
}

LaunchRecorder::~LaunchRecorder() {
  if (!finished_) finish(0);
}

void LaunchRecorder::finish(u64 rounds) {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  for (const auto& [group, track] : tracks_) {
    if (!track.waves.empty()) launch_.end = std::max(launch_.end, trace_.round_begin());
  }
  for (const auto& [group, track] : tracks_) {
    for (u32 wave = 0; wave < track.waves.size(); ++wave) {
      if (track.waves[wave].waiting) close_wait(track, wave, std::max(launch_.end, track.waves[wave].begin));
    }
    if (!track.waves.empty()) {
      add_span({.kind = SpanKind::kResident,
                .place = track.place,
                .begin = track.begin,
                .length = launch_.end - track.begin});
    }
  }
  launch_.rounds = rounds;
  trace_.end_launch(std::move(launch_));
}

void LaunchRecorder::add_span(const TraceSpan& span) {
  if (span.length == 0) return;
  if (launch_.spans.size() == kMostSpans) {
    ++launch_.dropped;
  } else {
    launch_.spans.push_back(span);
  }
}

void LaunchRecorder::begin(GroupTrack& track, const Workgroup& group) {
  track.place = static_cast<u32>(launch_.places.size());
  launch_.places.push_back(
      {.id = group.id, .number = group.number, .device = group.device, .xcd = group.xcd, .cu = group.cu});
  track.begin = std::max(trace_.round_begin(), track.ended);
  track.waves.assign(group.waves.size(), {.time = track.begin});
}

void LaunchRecorder::visit(const Workgroup& group) {
  const std::lock_guard lock(mutex_);
  GroupTrack& track = tracks_[&group];
  if (track.waves.empty()) begin(track, group);
  const u64 round_begin = trace_.round_begin();
  for (WaveTrack& wave : track.waves) {
    if (wave.waiting && wakes_with_a_round(wave.kind)) wave.time = std::max(wave.time, round_begin);
  }
}

void LaunchRecorder::close_wait(const GroupTrack& track, u32 wave, u64 end) {
  const WaveTrack& waiting = track.waves[wave];
  const u64 address = waiting.resume != nullptr ? program_.instruction_of(waiting.resume).address : 0;
  add_span({waiting.kind, wave, track.place, waiting.begin, end - waiting.begin, address});
}

void LaunchRecorder::ran(const Workgroup& group, const Wave& wave, u64 instructions) {
  const std::lock_guard lock(mutex_);
  GroupTrack& track = tracks_[&group];
  WaveTrack& own = track.waves[wave.number];
  const u64 begin = own.time;
  own.time += instructions;
  launch_.end = std::max(launch_.end, own.time);
  trace_.note_time(own.time);
  if (own.waiting && (own.kind == SpanKind::kSleep || own.kind == SpanKind::kPoll) &&
      wave.state == WaveState::kSleeping && wave.resume == own.resume) {
    own.kind = SpanKind::kPoll;
    return;
  }
  if (own.waiting) close_wait(track, wave.number, begin);
  add_span({.kind = SpanKind::kRun, .wave = wave.number, .place = track.place, .begin = begin, .length = instructions});
  own.waiting = wave.state != WaveState::kEnded;
  own.kind = wave.state == WaveState::kSleeping    ? SpanKind::kSleep
             : wave.state == WaveState::kAtBarrier ? SpanKind::kBarrier
                                                   : SpanKind::kYield;
  own.begin = own.time;
  own.resume = wave.resume;
}

void LaunchRecorder::barrier_opened(const Workgroup& group) {
  const std::lock_guard lock(mutex_);
  GroupTrack& track = tracks_[&group];
  u64 opened = 0;
  for (const WaveTrack& wave : track.waves) opened = std::max(opened, wave.time);
  for (u32 i = 0; i < track.waves.size(); ++i) {
    WaveTrack& wave = track.waves[i];
    if (!wave.waiting || wave.kind != SpanKind::kBarrier) continue;
    close_wait(track, i, opened);
    wave.time = opened;
    wave.waiting = false;
  }
}

void LaunchRecorder::ended(const Workgroup& group) {
  const std::lock_guard lock(mutex_);
  GroupTrack& track = tracks_[&group];
  u64 end = track.begin;
  for (const WaveTrack& wave : track.waves) end = std::max(end, wave.time);
  launch_.places[track.place].ended = true;
  add_span({.kind = SpanKind::kResident, .place = track.place, .begin = track.begin, .length = end - track.begin});
  track.waves.clear();
  track.ended = end;
}

}  // namespace monojit::emulator
