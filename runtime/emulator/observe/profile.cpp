#include "runtime/emulator/observe/profile.h"

#include <algorithm>
#include <array>

#include "runtime/emulator/code/debug_lines.h"

namespace monojit::emulator {
namespace {

// What instructions of a class cost on a host, roughly and in any unit: order of CountClass.
constexpr std::array<double, kCountClasses> kCosts = {0, 10, 2, 10, 60, 40, 600, 5};

/// True where the instruction at `index` has no micro-ops: the decoder dropped it.
bool dropped(const Program& program, std::size_t index) {
  return program.instructions[index + 1].first_op == program.instructions[index].first_op;
}

CountClass class_of(const Program& program, std::size_t index) {
  const StaticCounts& before = program.counts[program.instructions[index].first_op];
  const StaticCounts& behind = program.counts[program.instructions[index + 1].first_op];
  for (const CountClass count : {CountClass::kVector, CountClass::kScalar, CountClass::kScalarMemory,
                                 CountClass::kVectorMemory, CountClass::kLds, CountClass::kMatrix}) {
    if (behind[static_cast<u32>(count)] != before[static_cast<u32>(count)]) return count;
  }
  return CountClass::kOther;  // dropped instructions behind it are of this class too
}

double cost_of(const Program& program, std::size_t index) {
  return kCosts[static_cast<std::size_t>(class_of(program, index))];
}

/// Sums over micro-ops from amounts that hold for ranges of them.
template <class T>
class RangeSums {
 public:
  explicit RangeSums(std::size_t size) : steps_(size + 1) {}
  void add(u32 first, u32 end, T amount) {
    steps_[first] += amount;
    steps_[end] -= amount;
  }
  [[nodiscard]] std::vector<T> totals() const {
    std::vector<T> totals(steps_.size());
    T sum{};
    for (std::size_t i = 0; i < steps_.size(); ++i) totals[i] = sum += steps_[i];
    return totals;
  }

 private:
  std::vector<T> steps_;
};

/// Executions and ticks of a launch by micro-op.
struct OpTotals {
  explicit OpTotals(const Program& program);
  void add(u32 first, u32 end, const SegmentProfile::Totals& totals);

  std::vector<double> costs_before;  ///< of all micro-ops before one
  RangeSums<u64> executions;
  RangeSums<double> ticks_a_cost;
  std::vector<u64> out_of_range;
};

OpTotals::OpTotals(const Program& program)
    : costs_before(program.ops.size() + 1),
      executions(program.ops.size()),
      ticks_a_cost(program.ops.size()),
      out_of_range(program.ops.size()) {
  for (std::size_t i = 0; i + 1 < program.instructions.size(); ++i) {  // the last record is the end
    if (!dropped(program, i)) costs_before[program.instructions[i].first_op + 1] += cost_of(program, i);
  }
  for (std::size_t i = 1; i < costs_before.size(); ++i) costs_before[i] += costs_before[i - 1];
}

void OpTotals::add(u32 first, u32 end, const SegmentProfile::Totals& totals) {
  executions.add(first, end, totals.executions);
  const double cost = costs_before[end] - costs_before[first];
  if (cost > 0) ticks_a_cost.add(first, end, static_cast<double>(totals.ticks) / cost);
}

}  // namespace

ProfiledKernel& Profile::entry_of(const Kernel& kernel, const Program& program) {
  const std::vector<InstructionRecord>& code = program.instructions;
  const auto is_code = [&](const ProfiledKernel& known) {
    for (std::size_t i = 0; i < known.instructions.size(); ++i) {
      const ProfiledInstruction& each = known.instructions[i];
      if (each.address != code[i].address || each.text != code[i].text || each.dropped != dropped(program, i))
        return false;
    }
    return true;
  };
  for (const auto& known : kernels_) {
    if (known->name == kernel.name && known->instructions.size() + 1 == code.size() && is_code(*known)) return *known;
  }
  auto fresh = std::make_unique<ProfiledKernel>();
  fresh->name = kernel.name;
  std::vector<u64> addresses;
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    fresh->instructions.push_back({.address = code[i].address,
                                   .text = code[i].text,
                                   .count = class_of(program, i),
                                   .dropped = dropped(program, i)});
    addresses.push_back(code[i].address);
  }
  const std::vector<std::string> lines = source_lines(kernel.module->file(), addresses);
  for (std::size_t i = 0; i < lines.size(); ++i) fresh->instructions[i].source = lines[i];
  return *kernels_.emplace_back(std::move(fresh));
}

void Profile::add(const Kernel& kernel, const Program& program, std::span<const SegmentProfile> parts) {
  OpTotals totals(program);
  for (const SegmentProfile& part : parts) {
    for (const auto& [key, segment] : part.segments())
      totals.add(static_cast<u32>(key >> 32), static_cast<u32>(key), segment);
    for (const auto& [op, times] : part.out_of_range())
      totals.out_of_range[static_cast<std::size_t>(op - program.ops.data())] += times;
  }
  const std::vector<u64> executions = totals.executions.totals();
  const std::vector<double> ticks_a_cost = totals.ticks_a_cost.totals();

  const std::lock_guard lock(mutex_);
  ProfiledKernel& entry = entry_of(kernel, program);
  ++entry.launches;
  for (std::size_t i = 0; i < entry.instructions.size(); ++i) {
    if (entry.instructions[i].dropped) continue;
    const u32 op = program.instructions[i].first_op;
    entry.instructions[i].executions += executions[op];
    for (u32 part = op; part < program.instructions[i + 1].first_op; ++part)
      entry.instructions[i].out_of_range += totals.out_of_range[part];
    entry.instructions[i].ticks += std::max(0.0, ticks_a_cost[op]) * cost_of(program, i);
  }
}

std::vector<ProfiledKernel> Profile::kernels() const {
  const std::lock_guard lock(mutex_);
  std::vector<ProfiledKernel> copy;
  for (const auto& kernel : kernels_) copy.push_back(*kernel);
  return copy;
}

void Profile::clear() {
  const std::lock_guard lock(mutex_);
  kernels_.clear();
}

}  // namespace monojit::emulator
