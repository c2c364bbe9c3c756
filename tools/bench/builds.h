#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/family.h"
#include "runtime/hip/emulator_extras.h"
#include "runtime/kernel_record.h"
#include "tools/bench/stage_figures.h"

/// `monojit bench builds`: what each build costs to make, takes of the chip and executes.
namespace monojit::tools {

struct BuildsOptions {
  std::vector<std::string> keys;  ///< empty: the builds that default_builds() names
  std::string arch;
  std::uint64_t seed = 1;  ///< of the tensors of the launch
  int times = 3;           ///< builds of each key, of which the fastest counts
  bool run = true;         ///< launch on the emulator too
  bool verify = true;      ///< and compare with the reference
};

/// One launch on the emulator, of one rank where a kernel runs on a group.
struct RunFigures {
  runtime::EmulatorCounts counts;
  std::vector<StageFigures> stages;          ///< empty: the kernel has none
  std::optional<std::int64_t> weight_bytes;  ///< that the launch has to read at least
  std::optional<bool> verified;              ///< nothing: was not compared
};

struct BuildFigures {
  std::string key;
  runtime::BuildTimes times_ms;  ///< by the clock, of the fastest build
  double cpu_ms = 0;             ///< processor time of all threads in that build
  runtime::Resources resources;
  std::vector<std::pair<std::string, std::uint32_t>> instructions;  ///< static, by class
  std::optional<RunFigures> run;
  std::string problem;  ///< why there is no build, or no run; empty: all went well
};

/// HBM bandwidth of an MI355X, bytes a second: what weights stream in at, at best.
inline constexpr double kHbmBytesPerSecond = 8e12;

/// What HBM is expected to give of that under a real kernel.
inline constexpr double kExpectedBytesPerSecond = 7.2e12;

/// K1 for 1, 2, 3, 8 and 16 tokens, with one and with four index heads, without and with the scorer; K2 for 1, 4 and 8
/// tokens behind 4 blocks.
std::vector<std::string> default_builds();

BuildFigures measure_build(const kernels::BuildKey& key, const BuildsOptions& options);

/// Instructions of all classes.
std::uint32_t instruction_count(const BuildFigures& figures);
/// Microseconds that the weights' bytes take.
double floor_us(std::int64_t weight_bytes, double bytes_per_second = kHbmBytesPerSecond);

}  // namespace monojit::tools
