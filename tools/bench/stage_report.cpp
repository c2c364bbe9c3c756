#include "tools/bench/stage_report.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace monojit::tools {
namespace {

using Align = Table::Align;

struct TrafficColumn {
  Traffic traffic;
  const char* name;  ///< in JSON
  const char* head;
};

constexpr TrafficColumn kTraffic[] = {
    {Traffic::kStreamed, "streamed", "STREAMED B"}, {Traffic::kCached, "cached", "CACHED B"},
    {Traffic::kDevice, "device", "DEVICE B"},       {Traffic::kSystem, "system", "SYSTEM B"},
    {Traffic::kStored, "stored", "STORED B"},       {Traffic::kPushed, "pushed", "PUSHED B"},
    {Traffic::kLdsLoaded, "lds_loaded", "LDS B"},   {Traffic::kLdsStored, "lds_stored", "LDS STORED B"},
};

struct CountColumn {
  const char* name;  ///< in JSON
  const char* head;
  std::uint64_t StageFigures::* value;
};

constexpr CountColumn kCounts[] = {
    {"executed", "EXECUTED", &StageFigures::executed},
    {"retries", "RETRIES", &StageFigures::retries},
    {"vector", "VALU", &StageFigures::vector},
    {"scalar", "SALU", &StageFigures::scalar},
    {"lds", "LDS", &StageFigures::lds},
    {"memory_loads", "LOADS", &StageFigures::memory_loads},
    {"mfma", "MFMA", &StageFigures::mfma},
};

void add_row(const StageFigures& stage, Table& table) {
  std::vector<std::string> row = {stage.name, std::to_string(stage.instructions)};
  for (const CountColumn& column : kCounts) row.push_back(std::to_string(stage.*column.value));
  for (const TrafficColumn& column : kTraffic) row.push_back(std::to_string(stage.moved(column.traffic)));
  row.push_back(std::to_string(stage.in_flight));
  table.add(std::move(row));
}

Table table_of(std::span<const StageFigures> stages) {
  std::vector<std::string> heads = {"STAGE", "INSTS"};
  for (const CountColumn& column : kCounts) heads.emplace_back(column.head);
  for (const TrafficColumn& column : kTraffic) heads.emplace_back(column.head);
  heads.emplace_back("IN FLIGHT B");
  std::vector<Align> alignments(heads.size(), Align::kRight);
  alignments.front() = Align::kLeft;
  Table table(std::move(alignments));
  table.add(std::move(heads));
  for (const StageFigures& stage : stages) add_row(stage, table);
  add_row(sum_of(stages), table);
  return table;
}

}  // namespace

std::string stages_text(const RunFigures& run) {
  std::string text = table_of(run.stages).text();
  if (!run.weight_bytes) return text;
  constexpr double kMega = 1e6;
  return text +
         fmt::format(
             "weights with their scales, which count as cached: {:.1f} MB at least; {:.1f} MB streamed; floor "
             "{:.1f} us at HBM's peak of {:.1f} TB/s, {:.1f} us at the {:.1f} TB/s that it is expected to give\n",
             static_cast<double>(*run.weight_bytes) / kMega,
             static_cast<double>(sum_of(run.stages).moved(Traffic::kStreamed)) / kMega, floor_us(*run.weight_bytes),
             kHbmBytesPerSecond / 1e12, floor_us(*run.weight_bytes, kExpectedBytesPerSecond),
             kExpectedBytesPerSecond / 1e12);
}

Json stages_json(std::span<const StageFigures> stages) {
  Json list = Json::array();
  for (const StageFigures& stage : stages) {
    Json json = {{"name", stage.name}, {"instructions", stage.instructions}};
    for (const CountColumn& column : kCounts) json[column.name] = stage.*column.value;
    for (const TrafficColumn& column : kTraffic) json["bytes"][column.name] = stage.moved(column.traffic);
    json["bytes_in_flight"] = stage.in_flight;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace monojit::tools
