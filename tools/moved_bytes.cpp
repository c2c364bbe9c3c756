#include "tools/moved_bytes.h"

namespace monojit::tools {
namespace {

struct Space {
  const char* key;   ///< in JSON
  const char* name;  ///< in text
  runtime::MovedBytes runtime::EmulatorCounts::* bytes;
};

constexpr Space kSpaces[] = {
    {"device", "device", &runtime::EmulatorCounts::device_bytes},
    {"peer", "peer devices", &runtime::EmulatorCounts::peer_bytes},
    {"host", "host", &runtime::EmulatorCounts::host_bytes},
    {"lds", "LDS", &runtime::EmulatorCounts::lds_bytes},
    {"scratch", "scratch", &runtime::EmulatorCounts::scratch_bytes},
};

}  // namespace

Json moved_bytes_json(const runtime::EmulatorCounts& counts) {
  Json json;
  for (const Space& space : kSpaces) {
    const runtime::MovedBytes& bytes = counts.*space.bytes;
    json[space.key] = {{"loaded", bytes.loaded}, {"stored", bytes.stored}};
  }
  return json;
}

std::string moved_bytes_text(const runtime::EmulatorCounts& counts) {
  std::string text;
  for (const Space& space : kSpaces) {
    const runtime::MovedBytes& bytes = counts.*space.bytes;
    if (bytes.loaded + bytes.stored == 0) continue;
    text += fmt::format("{}{} {} loaded, {} stored", text.empty() ? "" : "; ", space.name, bytes.loaded, bytes.stored);
  }
  return text.empty() ? "none" : text;
}

}  // namespace monojit::tools
