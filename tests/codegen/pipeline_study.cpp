// Measures what optimisation pipelines cost and give, as docs/codegen-pipeline.md tells: for each pipeline the
// processor time of its passes, of comgr's code generation and of linking, and the code that came out.
//   monojit_pipeline_study [--arch gfx950] [--repeat 5] [--key KEY | --stages N --unroll N | --ir FILE.ll]
//                          [--passes PIPELINE] [--option CLANG_OPTION]...
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "codegen/bitcode.h"
#include "codegen/build.h"
#include "codegen/comgr/actions.h"
#include "codegen/object/code_object.h"
#include "codegen/optimise.h"
#include "kernels/emitters.h"
#include "tests/codegen/sample_kernels.h"

namespace monojit::codegen::test {
namespace {

struct Settings {
  std::string arch = "gfx950";
  int repeat = 5;
  int stages = 8;
  int unroll = 8;
  std::string ir_file;
  std::string key;
  std::vector<std::string> options;
  std::string passes;
  bool single = false;
};

struct Candidate {
  std::string name;
  std::string passes;
  std::vector<std::string> options;
};

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

std::vector<Candidate> candidates() {
  const auto alone = [](const std::string& level) {
    return std::vector<std::string>{level, "-Xclang", "-disable-llvm-passes"};
  };
  const std::string cse = "sroa,early-cse<memssa>";
  const std::string clean = cse + ",instcombine<no-verify-fixpoint>,simplifycfg";
  const auto own = [](const std::string& passes) { return "function(" + passes + "),amdgpu-attributor"; };
  return {
      {"comgr -O3", "", {"-O3"}},
      {"comgr -O2", "", {"-O2"}},
      {"comgr -O1", "", {"-O1"}},
      {"no passes", "", alone("-O3")},
      {"attributor", "amdgpu-attributor", alone("-O3")},
      {"sroa", own("sroa"), alone("-O3")},
      {"sroa,early-cse", own(cse), alone("-O3")},
      {"sroa,early-cse,instcombine,simplifycfg", own(clean), alone("-O3")},
      {"the same, code generation at -O2", own(clean), alone("-O2")},
      {"the same, code generation at -O1", own(clean), alone("-O1")},
      {"the same + licm,early-cse", own(clean + ",loop-mssa(licm),early-cse"), alone("-O3")},
      {"the same + licm,gvn,instcombine", own(clean + ",loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>"),
       alone("-O3")},
      {"default<O1> in process", "default<O1>", alone("-O3")},
      {"default<O3> in process", "default<O3>", alone("-O3")},
      {"standard", Pipeline::standard().passes, Pipeline::standard().comgr_options},
      {"standard without debug lines", Pipeline::standard().passes + ",strip", Pipeline::standard().comgr_options},
  };
}

struct Outcome {
  double passes = 1e30, codegen = 1e30, link = 1e30, first = 0;
  std::size_t instructions = 0;
  KernelMetadata kernel;
};

Outcome measure(const Candidate& candidate, const Settings& settings, const std::string& assembly) {
  Outcome best;
  for (int i = 0; i < settings.repeat; ++i) {
    ParsedModule parsed(assembly);
    const double start = cpu_ms();
    optimise(*parsed.module, settings.arch, candidate.passes);
    const double optimised = cpu_ms();
    const auto relocatable = comgr::codegen(bitcode_of(*parsed.module), settings.arch, candidate.options);
    const double generated = cpu_ms();
    const auto linked = comgr::link(relocatable.bytes, settings.arch);
    const double end = cpu_ms();
    if (i == 0) best.first = end - start;
    best.passes = std::min(best.passes, optimised - start);
    best.codegen = std::min(best.codegen, generated - optimised);
    best.link = std::min(best.link, end - generated);
    const CodeObject object(linked.bytes);
    best.kernel = object.kernels().at(0);
    best.instructions = Listing(object, best.kernel.symbol).instructions().size();
  }
  return best;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = argv[i + 1];
    if (flag == "--arch") settings.arch = value;
    if (flag == "--repeat") settings.repeat = std::stoi(value);
    if (flag == "--stages") settings.stages = std::stoi(value);
    if (flag == "--unroll") settings.unroll = std::stoi(value);
    if (flag == "--ir") settings.ir_file = value;
    if (flag == "--key") settings.key = value;
    if (flag == "--option") settings.options.push_back(value);
    if (flag == "--passes") settings.passes = value;
    if (flag == "--option" || flag == "--passes") settings.single = true;
  }
  return settings;
}

std::string source_of(const Settings& settings) {
  if (!settings.key.empty()) {
    const auto kernel = kernels::emit(kernels::BuildKey::parse(settings.key), *ir::find_target(settings.arch));
    return assembly_of(*kernel->finish());
  }
  if (settings.ir_file.empty()) return study_assembly(settings.stages, settings.unroll);
  const std::ifstream file(settings.ir_file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int run(const Settings& settings) {
  const std::string assembly = source_of(settings);
  std::cout << fmt::format("{} IR instructions, {}, best of {}; processor ms\n",
                           ParsedModule(assembly).module->getInstructionCount(), settings.arch, settings.repeat);
  std::cout << fmt::format("{:40} {:>8} {:>8} {:>6} {:>8} {:>8} {:>6} {:>6} {:>6} {:>8} {:>8}\n", "pipeline", "passes",
                           "codegen", "link", "sum", "first", "vgpr", "agpr", "sgpr", "spills", "instr");
  std::vector<Candidate> list = candidates();
  if (settings.single) list = {{settings.passes, settings.passes, settings.options}};
  for (const Candidate& candidate : list) {
    const Outcome o = measure(candidate, settings, assembly);
    const Resources& r = o.kernel.resources;
    std::cout << fmt::format("{:40} {:8.1f} {:8.1f} {:6.1f} {:8.1f} {:8.1f} {:6} {:6} {:6} {:>8} {:8}\n",
                             candidate.name, o.passes, o.codegen, o.link, o.passes + o.codegen + o.link, o.first,
                             r.vgpr, r.agpr, r.sgpr, fmt::format("{}+{}", r.vgpr_spills, r.sgpr_spills), o.instructions)
              << std::flush;
  }
  return 0;
}

}  // namespace
}  // namespace monojit::codegen::test

int main(int argc, char** argv) { return monojit::codegen::test::run(monojit::codegen::test::parse(argc, argv)); }
