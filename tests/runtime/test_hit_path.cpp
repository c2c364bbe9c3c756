#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/jit.h"
#include "tests/runtime/fake_device.h"

// A process that finds its kernels in the cache: what it loads.
namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr const char* kKey = "example.row_norm{rows=4,hidden=512}";
constexpr const char* kArch = "gfx950";
constexpr const char* kFolderVariable = "HIT_PATH_FOLDER";

JitOptions options_for(const std::string& folder, bool strict) {
  JitOptions options;
  options.cache_folder = folder;
  options.strict = strict;
  return options;
}

std::string mapped_files() {
  std::ifstream file("/proc/self/maps");
  std::string names;
  for (std::string line; std::getline(file, line);) {
    if (const auto path = line.find('/'); path != std::string::npos) names += line.substr(path) + '\n';
  }
  return names;
}

TEST_CASE("child: warm, launch, tell what is mapped", "[.][hit-path-child]") {
  const char* folder = std::getenv(kFolderVariable);
  REQUIRE(folder != nullptr);
  const tests::FakeDevice fake;
  Jit jit(options_for(folder, true));
  const std::vector<kernels::BuildKey> keys = {kernels::BuildKey::parse(kKey)};
  jit.warm(keys, fake.device());
  jit.seal();
  jit.prepare(keys[0], fake.device())->launch(std::vector<ArgumentValue>{nullptr, nullptr, nullptr}, nullptr);
  REQUIRE(fake.hip.launches == 1);
  fmt::print("{}disk reads {}\n", mapped_files(), jit.counters().disk_reads);
}

std::string run_child(const std::string& folder) {
  const std::string command = fmt::format("{}='{}' '{}' '[hit-path-child]' 2>&1", kFolderVariable, folder,
                                          std::filesystem::canonical("/proc/self/exe").string());
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[4096];
  for (std::size_t size = 0; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, size);
  pclose(pipe);
  return text;
}

TEST_CASE("A process that finds its kernels in the cache never maps LLVM or comgr") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("monojit_hit_path_{}", getpid());
  Jit(options_for(folder.string(), false)).get(kernels::BuildKey::parse(kKey), kArch);
  // This one has built, which shows that the names below would be seen.
  const std::string builder_maps = mapped_files();
  const std::string hit_maps = run_child(folder.string());
  std::filesystem::remove_all(folder);
  CHECK_THAT(hit_maps, ContainsSubstring("disk reads 1"));
  CHECK_THAT(hit_maps, ContainsSubstring("monojit_test_runtime"));
  for (const char* name : {"libmonojit_codegen", "libamd_comgr"}) {
    CHECK_THAT(builder_maps, ContainsSubstring(name));
    CHECK_THAT(hit_maps, !ContainsSubstring(name));
  }
  CHECK_THAT(hit_maps, !ContainsSubstring("LLVM", Catch::CaseSensitive::No));
}

}  // namespace
}  // namespace monojit::runtime
