#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/layers/source_tree.h"

namespace monojit::tests {
namespace {

/// One layer: the files it is made of, and the layers whose headers they may include besides their own. `outside` are
/// the libraries that weigh: LLVM, comgr and HIP.
struct Layer {
  std::string_view name;
  bool (*holds)(std::string_view path);
  std::vector<std::string_view> may_include;
  std::vector<std::string_view> outside;
};

bool within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.substr(folder.size()).starts_with('/');
}

/// Whether a folder or file on the way to a file of kernels/ has a name that starts so.
bool kernel_part(std::string_view path, std::string_view start) {
  return within(path, "kernels") && path.find("/" + std::string(start)) != std::string_view::npos;
}

/// Upper layers below lower ones; a file belongs to the first that holds it.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> kLayers = {
      {"environment", [](std::string_view p) { return within(p, "environment"); }, {}, {}},
      {"ir", [](std::string_view p) { return within(p, "ir"); }, {}, {"llvm"}},
      {"codegen",
       [](std::string_view p) { return within(p, "codegen"); },
       {"environment", "ir"},
       {"llvm", "llvm-c", "amd_comgr"}},
      {"cache", [](std::string_view p) { return within(p, "cache"); }, {"environment"}, {}},
      {"emitters", [](std::string_view p) { return kernel_part(p, "emit"); }, {"ir", "kernels"}, {}},
      {"references",
       [](std::string_view p) { return kernel_part(p, "reference") || p == "kernels/common/workload.cpp"; },
       {"kernels"},
       {}},
      {"kernels", [](std::string_view p) { return within(p, "kernels"); }, {}, {}},
      // What the runtime and the emulator say to each other beyond HIP, in C.
      {"emulator interface", [](std::string_view p) { return p == "runtime/emulator/emulator.h"; }, {}, {}},
      {"emulator",
       [](std::string_view p) { return within(p, "runtime/emulator"); },
       {"emulator interface", "environment"},
       {"llvm", "llvm-c", "hip"}},
      // The one file behind the facade's C function; the facade's other files are the runtime's, which opens it.
      {"compiler",
       [](std::string_view p) { return p.starts_with("runtime/compiler/compiler_library"); },
       {"ir", "codegen", "cache", "kernels", "emitters", "runtime"},
       {"llvm"}},
      {"runtime",
       [](std::string_view p) { return within(p, "runtime"); },
       {"cache", "kernels", "emulator interface", "environment"},
       {"hip"}},
      {"tools",
       [](std::string_view p) { return within(p, "tools"); },
       {"ir", "environment", "codegen", "cache", "kernels", "emitters", "references", "runtime", "emulator",
        "emulator interface", "compiler"},
       {"hip"}},
  };
  return kLayers;
}

const Layer* layer_of(std::string_view path) {
  const auto found = std::ranges::find_if(layers(), [&](const Layer& layer) { return layer.holds(path); });
  return found == layers().end() ? nullptr : &*found;
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Why `from` may not include `name`; empty when it may.
std::string objection(std::string_view from, std::string_view name) {
  const Layer* const user = layer_of(from);
  if (user == nullptr) return std::string(from) + " is in no layer";
  std::string sentence = std::string(from) + " (" + std::string(user->name) + ") includes " + std::string(name);
  if (const Layer* const used = layer_of(name)) {
    if (used == user || contains(user->may_include, used->name)) return {};
    return sentence + ", which is of " + std::string(used->name);
  }
  for (const std::string_view library : {"llvm", "llvm-c", "amd_comgr", "hip"}) {
    if (within(name, library) && !contains(user->outside, library)) return sentence;
  }
  return {};
}

TEST_CASE("Every source includes only what its layer may use") {
  const std::vector<SourceFile> sources =
      read_sources(MONOJIT_SOURCE_DIR, {"environment", "ir", "codegen", "cache", "kernels", "runtime", "tools"});
  REQUIRE_FALSE(sources.empty());
  for (const SourceFile& source : sources) {
    for (const std::string& name : source.includes) {
      const std::string why = objection(source.path, name);
      INFO(why);
      CHECK(why.empty());
    }
  }
}

TEST_CASE("An include that climbs is objected to") {
  CHECK(objection("ir/value.h", "kernels/common/error.h") ==
        "ir/value.h (ir) includes kernels/common/error.h, which is of kernels");
  CHECK_FALSE(objection("cache/entry.h", "ir/target.h").empty());
  CHECK_FALSE(objection("codegen/compile.cpp", "cache/key.h").empty());
  CHECK_FALSE(objection("kernels/minimax_m3/k1/key.h", "kernels/minimax_m3/k1/emitter/head.h").empty());
  CHECK_FALSE(objection("kernels/minimax_m3/k1/reference/norm.cpp", "ir/dsl.h").empty());
  CHECK_FALSE(objection("kernels/minimax_m3/k1/reference/norm.cpp", "kernels/minimax_m3/k1/emitter/norm.h").empty());
  CHECK_FALSE(objection("kernels/minimax_m3/k1/emitter/norm.cpp", "kernels/minimax_m3/k1/reference/norm.h").empty());
  CHECK_FALSE(objection("runtime/jit.cpp", "codegen/compile.h").empty());
  CHECK_FALSE(objection("runtime/compiler/compiler_loader.cpp", "codegen/build.h").empty());
  CHECK_FALSE(objection("runtime/jit.cpp", "llvm/IR/Module.h").empty());
  CHECK_FALSE(objection("runtime/jit.cpp", "tools/report.h").empty());
  CHECK_FALSE(objection("cache/entry.h", "hip/hip_runtime_api.h").empty());
  CHECK_FALSE(objection("runtime/hip/emulator_extras.cpp", "runtime/emulator/settings.h").empty());
  CHECK_FALSE(objection("runtime/emulator/decode/decoder.cpp", "codegen/build.h").empty());
  CHECK_FALSE(objection("elsewhere/file.h", "vector").empty());
}

TEST_CASE("An include of a lower layer, of the own one or of a plain library is fine") {
  CHECK(objection("codegen/compile.cpp", "ir/target.h").empty());
  CHECK(objection("ir/value.h", "ir/types.h").empty());
  CHECK(objection("kernels/minimax_m3/k1/emitter/head.cpp", "ir/dsl.h").empty());
  CHECK(objection("kernels/minimax_m3/k1/emitter/head.cpp", "kernels/minimax_m3/k1/layout.h").empty());
  CHECK(objection("runtime/compiler/compiler_library.cpp", "codegen/build.h").empty());
  CHECK(objection("runtime/hip/emulator_extras.cpp", "runtime/emulator/emulator.h").empty());
  CHECK(objection("cache/entry.h", "fmt/format.h").empty());
  CHECK(objection("cache/entry.h", "vector").empty());
}

TEST_CASE("Includes are found in every form they are written in, and nowhere else") {
  const std::vector<std::string> names = includes_of(
      "#pragma once\n#include <vector>\n#include \"a/b.h\"  // why\n  #  include<c.h>\n// #include \"no.h\"\n#include "
      "MACRO\n");
  CHECK(names == std::vector<std::string>{"vector", "a/b.h", "c.h"});
}

}  // namespace
}  // namespace monojit::tests
