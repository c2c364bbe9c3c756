#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/hip/emulator_extras.h"
#include "tools/emulate/code_object.h"
#include "tools/emulate/expectation.h"
#include "tools/profile_report.h"
#include "tools/report.h"

/// One kernel of any code object on the emulator, from files to results.
namespace monojit::tools {

struct EmulateOptions {
  std::filesystem::path file;
  std::string kernel;  ///< empty: the only one
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{};  ///< zeros: what the kernel requires, else one wave
  std::filesystem::path arguments;       ///< empty: none
  std::uint32_t dynamic_lds = 0;
  bool cooperative = false;
  std::uint32_t repeat = 1;
  ProfileFlags profile;
  std::filesystem::path trace;                                ///< file to write; empty: none
  std::vector<std::pair<std::string, std::string>> settings;  ///< of the emulator: name, value
};

struct EmulateResult {
  std::string arch;
  std::string device;  ///< the emulator's description of itself
  std::string matrix_model;
  KernelInfo kernel;
  std::array<std::uint32_t, 3> block{};
  std::uint32_t dynamic_lds = 0;
  std::uint32_t workgroups_per_cu = 0;  ///< with this block and LDS
  runtime::EmulatorCounts counts;       ///< of all launches
  std::vector<BufferResult> buffers;    ///< those with an output or an expectation
  Json profile;                         ///< null: none was asked for
  std::vector<std::string> problems;    ///< outputs that could not be written

  [[nodiscard]] bool compared() const;
  [[nodiscard]] std::uint64_t mismatches() const;
};

/// The code object of a file, read for the chip that MONOJIT_EMULATOR_CHIP names or for its own. Throws UserError.
CodeObject open_code_object(const std::filesystem::path& file);

/// Throws UserError for what the user can put right before anything runs, DeviceError when the kernel faults.
EmulateResult emulate(EmulateOptions options);

/// With the field names of docs/cli.md.
Json to_json(const EmulateOptions& options, const EmulateResult& result);
void print_text(const EmulateOptions& options, const EmulateResult& result);

/// What `--list` prints.
Json to_json(const CodeObject& object);
void print_text(const CodeObject& object);

}  // namespace monojit::tools
