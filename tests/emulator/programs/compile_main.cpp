// compile SOURCE.cl ARCH OUTPUT.co [OPTION]...: what the build makes the tests' code objects with.
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/emulator/programs/compile.h"

int main(int count, char** words) {
  constexpr int kOptions = 4;
  if (count < kOptions) {
    std::cerr << "usage: " << words[0] << " SOURCE.cl ARCH OUTPUT.co [OPTION]...\n";
    return 2;
  }
  try {
    const std::string name = words[1];
    std::ifstream file(name);
    if (!file) throw std::runtime_error("cannot read " + name);
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::string> options(words + kOptions, words + count);
    const auto object = monojit::emulator::test::compile_opencl(source, name, words[2], options);
    std::ofstream out(words[3], std::ios::binary);
    out.write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
    if (!out.flush()) throw std::runtime_error(std::string("cannot write ") + words[3]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
