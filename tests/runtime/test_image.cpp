#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <elf.h>

#include "runtime/arguments.h"
#include "runtime/hollow_image.h"
#include "runtime/image.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

using Catch::Matchers::ContainsSubstring;
using Image = std::vector<std::byte>;

constexpr const char* kArch = "gfx950";
constexpr const char* kSymbol = "some_kernel";
constexpr std::size_t kSegments = sizeof(Elf64_Ehdr);
constexpr std::size_t kSections = kSegments + 2 * sizeof(Elf64_Phdr);

KernelRecord some_record() {
  KernelRecord record = tests::tiny_record();
  record.symbol = kSymbol;
  return record;
}

Image sound() { return hollow_image(kArch, some_record()); }

/// A header of type T at `offset` of a sound image, changed.
template <class T, class Change>
Image with(std::size_t offset, const Change& change) {
  Image image = sound();
  T header;
  std::memcpy(&header, image.data() + offset, sizeof header);
  change(header);
  std::memcpy(image.data() + offset, &header, sizeof header);
  return image;
}

std::string problem_of(std::span<const std::byte> image, const char* arch = kArch, const char* symbol = kSymbol) {
  try {
    (void)image_record(image, arch, symbol);
  } catch (const CodeObjectError& error) {
    return error.what();
  }
  return "";
}

/// A sound image with another first character in one of the places that name the symbol.
Image renamed(int place) {
  Image image = sound();
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  std::size_t at = text.find(kSymbol);
  for (; place > 0; --place) at = text.find(kSymbol, at + 1);
  image[at] ^= std::byte{1};
  return image;
}

TEST_CASE(
    "A linked ELF file for the chip that has the kernel is an image, and one without is refused for what it lacks") {
  CHECK(problem_of(sound()).empty());
  CHECK(problem_of(hollow_image("gfx942", some_record()), "gfx942").empty());
  CHECK_THAT(problem_of(sound(), "gfx942"), ContainsSubstring("it is for gfx950, not for gfx942"));
  CHECK_THAT(problem_of(sound(), "gfx90a"), ContainsSubstring("gfx90a is no chip"));
  CHECK_THAT(problem_of(sound(), kArch, "other_kernel"), ContainsSubstring("no symbol other_kernel.kd"));
  CHECK_THAT(problem_of(sound(), kArch, "some_kerne"), ContainsSubstring("no symbol some_kerne.kd"));
  CHECK_THAT(problem_of(renamed(0)), ContainsSubstring("metadata do not have some_kernel.kd"));
  CHECK_THAT(problem_of(renamed(1)), ContainsSubstring("no symbol some_kernel.kd"));
  CHECK_THAT(problem_of(renamed(2)), ContainsSubstring("no symbol some_kernel"));
  const auto without = [](const auto& change) { return problem_of(with<Elf64_Ehdr>(0, change)); };
  CHECK_THAT(without([](Elf64_Ehdr& file) { file.e_shnum = 0; }), ContainsSubstring("no symbols"));
  CHECK_THAT(without([](Elf64_Ehdr& file) { file.e_phnum = 0; }), ContainsSubstring("outside of its segments"));
  CHECK_THAT(without([](Elf64_Ehdr& file) { file.e_phnum = 1; }), ContainsSubstring("metadata"));
  CHECK_THAT(without([](Elf64_Ehdr& file) { file.e_type = ET_REL; }), ContainsSubstring("not linked"));
}

TEST_CASE("An image says of its kernel what it takes and where its arguments lie") {
  const KernelRecord said = image_record(sound(), kArch, kSymbol);
  const KernelRecord record = some_record();
  CHECK(said.symbol == record.symbol);
  CHECK(said.resources == record.resources);
  CHECK(said.arguments == record.arguments);
  CHECK(said.kernarg_bytes == record.kernarg_bytes);
}

TEST_CASE("An image that is cut anywhere, of another machine, or that points outside of itself is refused") {
  const Image image = sound();
  for (std::size_t size = 0; size < image.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(problem_of(std::span(image).first(size)).empty());
  }
  const auto refuses = [](const Image& changed) { CHECK_FALSE(problem_of(changed).empty()); };
  const auto file = [&](const auto& change) { refuses(with<Elf64_Ehdr>(0, change)); };
  const auto segment = [&](const auto& change) { refuses(with<Elf64_Phdr>(kSegments, change)); };
  const auto symbols = [&](const auto& change) { refuses(with<Elf64_Shdr>(kSections + sizeof(Elf64_Shdr), change)); };
  constexpr auto kHuge = ~std::uint64_t{0};
  file([](Elf64_Ehdr& header) { header.e_ident[0] = 0; });
  file([](Elf64_Ehdr& header) { header.e_ident[EI_CLASS] = ELFCLASS32; });
  file([](Elf64_Ehdr& header) { header.e_machine = EM_X86_64; });
  file([](Elf64_Ehdr& header) { header.e_phoff = kHuge; });
  file([](Elf64_Ehdr& header) { header.e_phentsize = 1; });
  file([](Elf64_Ehdr& header) { header.e_shnum = 0xFFFF; });
  segment([](Elf64_Phdr& header) { header.p_offset = kHuge; });
  segment([](Elf64_Phdr& header) { header.p_filesz = kHuge; });
  segment([](Elf64_Phdr& header) { header.p_vaddr = kHuge; });
  symbols([](Elf64_Shdr& header) { header.sh_offset = kHuge; });
  symbols([](Elf64_Shdr& header) { header.sh_size = kHuge; });
  symbols([](Elf64_Shdr& header) { header.sh_link = 3; });
}

TEST_CASE("Bytes that are no image are refused, and are never read beyond their end") {
  constexpr int kImages = 20'000;
  constexpr std::uint64_t kSeed = 3;
  std::mt19937_64 random(kSeed);
  int refused = 0;
  for (int i = 0; i < kImages; ++i) {
    Image image = sound();
    image[random() % image.size()] = static_cast<std::byte>(random());
    image.shrink_to_fit();  // so that a sanitizer sees a read beyond it
    if (!problem_of(image).empty()) ++refused;
  }
  CHECK(refused > kImages / 4);
  CHECK_FALSE(problem_of({}).empty());
}

}  // namespace
}  // namespace monojit::runtime
