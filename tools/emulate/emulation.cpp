#include "tools/emulate/emulation.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "environment/variables.h"
#include "kernels/common/error.h"
#include "runtime/hip/buffer.h"
#include "runtime/hip/device_error.h"
#include "runtime/hip/module.h"
#include "runtime/hip/stream.h"
#include "tools/emulate/arguments.h"
#include "tools/emulate/input_file.h"
#include "tools/emulate/json_text.h"
#include "tools/output_file.h"
#include "tools/trace_file.h"

namespace monojit::tools {
namespace {

namespace fs = std::filesystem;
using runtime::HipTable;

constexpr std::uint32_t kWave = 64;

std::string wanted_chip() {
  const char* chip = environment::value(environment::Id::kEmulatorChip);
  return chip != nullptr ? chip : "";
}

std::string read_arguments(const fs::path& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  const std::vector<std::byte> bytes = read_whole(file, "arguments");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ArgumentFile open_arguments(const EmulateOptions& options, const KernelInfo& kernel) {
  if (options.arguments.empty()) {
    if (kernel.described ? !kernel.arguments.empty() : kernel.kernarg_bytes > 0)
      throw UserError(fmt::format("{} takes arguments: give them with --args\n{}", kernel.name, argument_list(kernel)));
    return {};
  }
  const bool standard = options.arguments == "-";
  const std::string where = standard ? "standard input" : options.arguments.string();
  const fs::path folder = standard ? fs::path() : options.arguments.parent_path();
  return parse_arguments(parse_json(read_arguments(options.arguments), where), kernel, where, folder);
}

/// Outputs are writable, none stands twice, and none takes the place of what is read.
void check_outputs(const EmulateOptions& options, const ArgumentFile& file) {
  CommandFiles files;
  files.reads(options.file);
  files.reads(options.arguments);
  for (const BufferSpec& spec : file.buffers) {
    files.reads(spec.npy);
    files.reads(spec.raw);
    if (spec.expect) files.reads(spec.expect->file);
  }
  for (const BufferSpec& spec : file.buffers) files.writes(spec.output, spec.where);
  files.writes(options.profile.file, "--profile");
  files.writes(options.trace, "--trace");
}

/// A buffer on both sides.
struct LoadedBuffer {
  Array content;
  Array expected;
  runtime::DeviceBuffer memory;
};

std::vector<LoadedBuffer> load_buffers(const runtime::Device& device, const ArgumentFile& file) {
  std::vector<LoadedBuffer> buffers;
  for (const BufferSpec& spec : file.buffers) {
    LoadedBuffer loaded{load_buffer(spec, device.memory()), {}, {}};
    if (spec.expect) loaded.expected = read_expected(spec, loaded.content);
    loaded.memory = spec.filled() ? runtime::DeviceBuffer(device, loaded.content.bytes)
                                  : runtime::DeviceBuffer(device, loaded.content.bytes.size());
    if (!spec.has_result()) loaded.content.bytes = {};
    buffers.push_back(std::move(loaded));
  }
  return buffers;
}

void check_offsets(const ArgumentFile& file, const std::vector<LoadedBuffer>& buffers) {
  for (const ArgumentValue& value : file.values) {
    if (!value.buffer) continue;
    const std::size_t bytes = buffers[*value.buffer].memory.bytes();
    if (value.buffer_offset > bytes) {
      throw UserError(fmt::format("{}: the offset {} lies behind its {} bytes", file.buffers[*value.buffer].where,
                                  value.buffer_offset, bytes));
    }
  }
}

/// A launch that the device does not take is the caller's to put right, and no fault of the kernel.
void check_launch(const HipTable& hip, hipError_t code, const char* call) {
  const bool refused = code == hipErrorInvalidValue || code == hipErrorInvalidConfiguration ||
                       code == hipErrorCooperativeLaunchTooLarge || code == hipErrorNotSupported;
  if (refused && !hip.last_fault().empty()) throw UserError(hip.last_fault());
  hip.check(code, call);
}

class Launcher {
 public:
  Launcher(const HipTable& hip, const EmulateOptions& options, hipFunction_t function, std::vector<std::byte> arguments,
           std::uint32_t dynamic_lds)
      : hip_(hip),
        options_(options),
        function_(function),
        arguments_(std::move(arguments)),
        dynamic_lds_(dynamic_lds) {}

  void launch(const std::vector<KernelArgument>& places, hipStream_t stream) {
    const auto& [gx, gy, gz] = options_.grid;
    const auto& [bx, by, bz] = options_.block;
    if (options_.cooperative) {
      std::vector<void*> pointers;
      pointers.reserve(places.size());
      for (const KernelArgument& place : places) pointers.push_back(arguments_.data() + place.offset);
      const auto call = reinterpret_cast<decltype(&hipModuleLaunchCooperativeKernel)>(
          hip_.optional_symbol("hipModuleLaunchCooperativeKernel"));
      if (call == nullptr) throw UserError(hip_.library() + " has no hipModuleLaunchCooperativeKernel");
      check_launch(hip_, call(function_, gx, gy, gz, bx, by, bz, dynamic_lds_, stream, pointers.data()),
                   "hipModuleLaunchCooperativeKernel");
      return;
    }
    std::size_t bytes = arguments_.size();
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments_.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    check_launch(hip_,
                 hip_.hipModuleLaunchKernel(function_, gx, gy, gz, bx, by, bz, dynamic_lds_, stream, nullptr,
                                            bytes > 0 ? extra : nullptr),
                 "hipModuleLaunchKernel");
  }

 private:
  const HipTable& hip_;
  const EmulateOptions& options_;
  hipFunction_t function_;
  std::vector<std::byte> arguments_;
  std::uint32_t dynamic_lds_;
};

void run_launches(const runtime::Device& device, const EmulateOptions& options, Launcher& launcher,
                  const ArgumentFile& file, EmulateResult& result) {
  const runtime::Stream stream(device);
  const runtime::EmulatorCounter counter(device.hip());
  for (std::uint32_t i = 0; i < options.repeat; ++i) {
    launcher.launch(file.arguments, stream.get());
    stream.synchronize();
  }
  if (const auto counts = counter.counts()) result.counts = *counts;
}

/// run_launches() with the profile and the trace that were asked for.
void run_observed(const runtime::Device& device, const EmulateOptions& options, Launcher& launcher,
                  const ArgumentFile& file, EmulateResult& result) {
  ProfiledLaunches profiled(device.hip(), options.profile);
  TracedLaunches traced(device.hip(), options.trace);
  try {
    run_launches(device, options, launcher, file, result);
  } catch (const runtime::DeviceError&) {  // what a kernel did until it faulted is worth having
    const Json profile = profiled.take();
    if (!profile.is_null()) say(profile_summary(profile));
    traced.write();
    throw;
  }
  result.profile = profiled.take();
  traced.write();
}

/// Workgroups that a compute unit holds at once.
std::uint32_t occupancy(const HipTable& hip, hipFunction_t function, const std::array<std::uint32_t, 3>& block,
                        std::uint32_t dynamic_lds) {
  int fits = 0;
  hip.check(hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                &fits, function, static_cast<int>(block[0] * block[1] * block[2]), dynamic_lds),
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(fits);
}

void collect(const ArgumentFile& file, std::vector<LoadedBuffer>& buffers, EmulateResult& result) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferSpec& spec = file.buffers[i];
    if (!spec.has_result()) continue;
    Array& content = buffers[i].content;
    buffers[i].memory.download(content.bytes);
    BufferResult buffer = summarise(spec, content);
    if (spec.expect) compare(spec, content, buffers[i].expected, buffer);
    if (!spec.output.empty()) {
      try {
        write_elements(spec.output, content);
        buffer.output = spec.output.string();
        buffer.bits_only = spec.output.extension() == ".npy" && npy_dtype(content.dtype->npy) != content.dtype;
      } catch (const UserError& error) {  // the run is done: its result is worth having without the file
        result.problems.emplace_back(error.what());
      }
    }
    result.buffers.push_back(std::move(buffer));
  }
}

/// The emulator as that chip and with these settings. They come before the device exists: not all may change later.
runtime::Device start_emulator(const EmulateOptions& options, const std::string& arch) {
  const auto table = HipTable::open(runtime::Provider::kEmulator);
  runtime::set_emulator_option(*table, "chip", arch);
  for (const auto& [name, value] : options.settings) {
    try {
      runtime::set_emulator_option(*table, name, value);
    } catch (const UserError& error) {  // "seed=-1: ..."
      throw UserError(std::string("--") + error.what());
    }
  }
  return runtime::Device::at(table, 0);
}

}  // namespace

bool EmulateResult::compared() const { return std::ranges::any_of(buffers, &BufferResult::compared); }

std::uint64_t EmulateResult::mismatches() const {
  std::uint64_t sum = 0;
  for (const BufferResult& buffer : buffers) sum += buffer.mismatches;
  return sum;
}

CodeObject open_code_object(const fs::path& file) {
  const std::string chip = wanted_chip();
  CodeObject object = read_code_object(file, chip, *HipTable::open(runtime::Provider::kEmulator));
  if (!chip.empty() && chip != object.arch) {
    throw UserError(fmt::format("{} is for {}, but MONOJIT_EMULATOR_CHIP is {}: unset it, or compile for {}",
                                file.string(), object.arch, chip, chip));
  }
  return object;
}

EmulateResult emulate(EmulateOptions options) {
  const CodeObject object = open_code_object(options.file);
  EmulateResult result;
  result.kernel = find_kernel(object, options.kernel, options.file);
  result.arch = object.arch;
  if (options.block[0] == 0) options.block = result.kernel.required_workgroup;
  if (options.block[0] == 0) options.block = {kWave, 1, 1};
  result.block = options.block;
  const ArgumentFile file = open_arguments(options, result.kernel);
  check_outputs(options, file);

  const runtime::Device device = start_emulator(options, object.arch);
  const HipTable& hip = device.hip();
  result.device = runtime::emulator_description(hip);
  result.matrix_model = runtime::emulator_matrix_model(hip);
  std::vector<LoadedBuffer> buffers = load_buffers(device, file);
  check_offsets(file, buffers);
  std::vector<std::uint64_t> addresses;
  for (const LoadedBuffer& buffer : buffers)
    addresses.push_back(reinterpret_cast<std::uint64_t>(buffer.memory.address()));

  const runtime::Module module(device, object.bytes);
  const hipFunction_t function = module.function(result.kernel.name);
  result.dynamic_lds = options.dynamic_lds;
  std::vector<std::byte> arguments = pack_arguments(file, addresses, result.kernel.lds_bytes, result.dynamic_lds);
  Launcher launcher(hip, options, function, std::move(arguments), result.dynamic_lds);
  run_observed(device, options, launcher, file, result);
  result.workgroups_per_cu = occupancy(hip, function, options.block, result.dynamic_lds);
  collect(file, buffers, result);
  return result;
}

}  // namespace monojit::tools
