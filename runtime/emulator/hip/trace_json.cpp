// Traces in Chrome's JSON format: https://perfetto.dev reads it, and chrome://tracing.
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/emulator/hip/observe.h"

namespace monojit::emulator {
namespace {

constexpr u64 kInstructionsPerMicrosecond = 1000;  // the format's times are in microseconds

/// Appends events to a text: a trace has too many for a document in memory.
class Writer {
 public:
  Writer() : text_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n") {}

  void name(const char* kind, u64 process, u64 thread, const std::string& name) {
    begin_event();
    fmt::format_to(std::back_inserter(text_), R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})",
                   kind, process, thread, quoted(name));
  }
  /// `arguments` are JSON members, or empty.
  void span(std::string_view name, u64 process, u64 thread, u64 begin, u64 length, const std::string& arguments) {
    begin_event();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", quoted(name), process,
                   thread, microseconds(begin), microseconds(length), arguments);
  }
  std::string finish() { return std::move(text_) + "\n]}\n"; }

 private:
  void begin_event() {
    if (!first_) text_ += ",\n";
    first_ = false;
  }
  static std::string quoted(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  static std::string microseconds(u64 time) {
    return fmt::format("{}.{:03}", time / kInstructionsPerMicrosecond, time % kInstructionsPerMicrosecond);
  }

  std::string text_;
  bool first_ = true;
};

const char* name_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kResident:
      return "resident";
    case SpanKind::kRun:
      return "run";
    case SpanKind::kBarrier:
      return "barrier";
    case SpanKind::kSleep:
      return "sleep";
    case SpanKind::kPoll:
      return "poll";
    case SpanKind::kYield:
      return "turn over";
  }
  return "";
}

// Numbers begin at 1: viewers take process and thread 0 for the idle task of an operating system.
constexpr u64 kLaunches = 1;

u64 process_of(const TracePlace& place) {
  return kLaunches + 1 + (u64{place.device} << 16) + (u64{place.xcd} << 8) + place.cu;
}

/// One thread a workgroup, and one behind it for each of its waves: at most 16.
u64 thread_of(const TracePlace& place, u32 wave) {
  return 1 + place.number * 17 + (wave == kNoWave ? 0 : 1 + u64{wave});
}

std::string place_name(const TracePlace& place, u32 wave) {
  const std::string group = fmt::format("workgroup {}, {}, {}", place.id[0], place.id[1], place.id[2]);
  return wave == kNoWave ? group : fmt::format("{} wave {}", group, wave);
}

void write_launch(Writer& writer, const TracedLaunch& launch, std::set<std::pair<u64, u64>>& named) {
  writer.span(launch.kernel, kLaunches, kLaunches, launch.begin, launch.end - launch.begin,
              fmt::format(R"("workgroups":{},"rounds":{},"spans left out":{})", launch.places.size(), launch.rounds,
                          launch.dropped));
  for (const TraceSpan& span : launch.spans) {
    const TracePlace& place = launch.places[span.place];
    const u64 process = process_of(place);
    const u64 thread = thread_of(place, span.wave);
    if (named.insert({process, 0}).second) {
      writer.name("process_name", process, 0, fmt::format("device {} XCD {} CU {}", place.device, place.xcd, place.cu));
    }
    if (named.insert({process, thread}).second)
      writer.name("thread_name", process, thread, place_name(place, span.wave));
    const bool group = span.kind == SpanKind::kResident;
    writer.span(group ? launch.kernel : name_of(span.kind), process, thread, span.begin, span.length,
                group               ? fmt::format(R"("ended":{})", place.ended)
                : span.address != 0 ? fmt::format(R"("then":"{:#x}")", span.address)
                                    : "");
  }
}

}  // namespace

std::string trace_json(const std::vector<TracedLaunch>& launches) {
  Writer writer;
  std::set<std::pair<u64, u64>> named;
  writer.name("process_name", kLaunches, 0, "launches");
  for (const TracedLaunch& launch : launches) write_launch(writer, launch, named);
  return writer.finish();
}

}  // namespace monojit::emulator
