#include "tools/launch_chain.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "runtime/health.h"
#include "runtime/hip/device_error.h"
#include "tools/session.h"

namespace monojit::tools {

using kernels::Tensor;

std::string place_text(const std::vector<std::pair<std::string, std::int64_t>>& place) {
  std::string text;
  for (const auto& [name, number] : place) {
    fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", name, number);
  }
  return text;
}

namespace {

/// Memory for the time stamps of launches that run before anybody looks: one piece a launch.
class Stamps {
 public:
  Stamps(const runtime::LoadedKernel& kernel, TimelineTrace& trace, int launches)
      : trace_(trace), bytes_(trace.on() ? trace.bytes() : 0) {
    if (bytes_ == 0) return;
    argument_ = kernel.arguments().index(trace.words().argument);
    const std::vector<std::byte> zeros(bytes_ * static_cast<std::size_t>(launches));
    memory_ = runtime::DeviceBuffer(kernel.device(), zeros);
  }

  void begin_launch(std::vector<runtime::ArgumentValue>& values, std::string name) {
    if (bytes_ == 0) return;
    values[argument_] = static_cast<std::byte*>(memory_.address()) + names_.size() * bytes_;
    names_.push_back(std::move(name));
  }

  /// Hands all stamps to the trace, once the launches have ended, and the latest launch's to the argument's own memory,
  /// as if the kernel had written them there.
  void take(const runtime::HipTable& hip, const runtime::DeviceTensors& tensors) {
    if (bytes_ == 0 || names_.empty()) return;
    std::vector<std::int64_t> words(memory_.bytes() / sizeof(std::int64_t));
    memory_.download(std::as_writable_bytes(std::span(words)));
    const std::size_t row = bytes_ / sizeof(std::int64_t);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      trace_.add(names_[i].empty() ? "launch" : names_[i], std::span(words).subspan(i * row, row), i == 0);
    }
    const auto latest = std::span(words).subspan((names_.size() - 1) * row, row);
    hip.check(hip.hipMemcpy(tensors.buffer(argument_).address(), latest.data(), bytes_, hipMemcpyHostToDevice),
              "hipMemcpy");
  }

 private:
  TimelineTrace& trace_;
  std::size_t bytes_;
  std::size_t argument_ = 0;
  runtime::DeviceBuffer memory_;
  std::vector<std::string> names_;
};

}  // namespace

LaunchChain::LaunchChain(const runtime::LoadedKernel& kernel, const kernels::Workload& workload,
                         std::vector<Tensor> tensors, TimelineTrace& trace)
    : kernel_(kernel),
      workload_(workload),
      tensors_(std::move(tensors)),
      trace_(trace),
      on_device_(kernel.device(), kernel.kernel().key.family(), tensors_),
      stream_(kernel.device()) {}

const std::vector<Tensor>& LaunchChain::download() {
  if (!current_) tensors_ = on_device_.download(std::move(tensors_));
  current_ = true;
  return tensors_;
}

void LaunchChain::begin_next() {
  if (!std::exchange(launched_, true)) return;
  const kernels::Advance next = workload_.advance(kernel_.kernel().key, tensors_);
  kernels::apply(next, tensors_);
  on_device_.advance(next);
}

std::optional<LaunchFailure> LaunchChain::launch(const kernels::DeviceTraits& traits, LaunchResult& result) {
  const kernels::BuildKey& key = kernel_.kernel().key;
  const std::string& arch = kernel_.device().arch();
  download();
  begin_next();
  workload_.check(key, arch, tensors_);
  const std::vector<Tensor> before = tensors_;
  if (auto failure = run(1, result)) return failure;
  result.outputs = workload_.compare(key, arch, traits, before, download());
  return std::nullopt;
}

std::optional<LaunchFailure> LaunchChain::launch_back_to_back(int count, LaunchResult& result) {
  begin_next();
  return run(count, result);
}

/// The first launch is begun; the others follow it.
std::optional<LaunchFailure> LaunchChain::run(int count, LaunchResult& result) {
  const runtime::HipTable& hip = kernel_.device().hip();
  Stamps stamps(kernel_, trace_, count);
  std::string error;
  const runtime::EmulatorCounter counter(hip);
  const Stopwatch watch;
  current_ = false;
  try {
    for (int i = 0; i < count; ++i) {
      if (i > 0) begin_next();
      std::vector<runtime::ArgumentValue> values = on_device_.values();
      stamps.begin_launch(values, place_text(workload_.place(kernel_.kernel().key, tensors_)));
      kernel_.launch(values, stream_.get());
    }
    stream_.synchronize();
  } catch (const runtime::DeviceError& failed) {
    error = failed.what();
  }
  result.run_ms = watch.ms();
  result.place = workload_.place(kernel_.kernel().key, tensors_);
  result.emulator = counter.counts();
  auto failure = failure_of(error);
  try {
    stamps.take(hip, on_device_);
  } catch (const runtime::DeviceError&) {  // a device that failed may not even give its memory
    if (!failure) throw;
  }
  return failure;
}

std::optional<LaunchFailure> LaunchChain::failure_of(const std::string& error) {
  std::string health;
  try {
    health = runtime::poll_health(kernel_, on_device_.values()).value_or("");
  } catch (const runtime::DeviceError&) {
    if (error.empty()) throw;
  }
  if (error.empty() && health.empty()) return std::nullopt;
  return LaunchFailure{.error = error, .health = std::move(health)};
}

void merge(const std::vector<kernels::Comparison>& outputs, std::vector<kernels::Comparison>& all) {
  for (const kernels::Comparison& output : outputs) {
    const auto found = std::ranges::find(all, output.name, &kernels::Comparison::name);
    if (found == all.end()) {
      all.push_back(output);
      continue;
    }
    found->elements += output.elements;
    found->mismatches += output.mismatches;
    found->ok = found->ok && output.ok;
    if (output.max_error * found->bound <= found->max_error * output.bound) continue;
    found->max_error = output.max_error;
    found->bound = output.bound;
  }
}

}  // namespace monojit::tools
