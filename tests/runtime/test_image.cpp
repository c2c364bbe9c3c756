#include <cstring>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <elf.h>

#include "runtime/arguments.h"
#include "runtime/image.h"
#include "tests/runtime/tiny_kernel.h"

namespace monojit::runtime {
namespace {

using Image = std::vector<std::byte>;

template <class Header>
void append(Image& image, const Header& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  image.insert(image.end(), bytes.begin(), bytes.end());
}

/// A header, a segment and a section, both of which are the last 16 bytes.
struct Parts {
  static constexpr std::uint64_t kData = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + sizeof(Elf64_Shdr);
  static constexpr std::uint64_t kDataBytes = 16;

  Elf64_Ehdr file{};
  Elf64_Phdr segment{};
  Elf64_Shdr section{};

  Parts() {
    const Image tiny = runtime::empty_image();
    std::memcpy(&file, tiny.data(), sizeof file);
    file.e_phoff = sizeof file;
    file.e_phnum = 1;
    file.e_phentsize = sizeof segment;
    file.e_shoff = sizeof file + sizeof segment;
    file.e_shnum = 1;
    file.e_shentsize = sizeof section;
    segment.p_offset = section.sh_offset = kData;
    segment.p_filesz = section.sh_size = kDataBytes;
    section.sh_type = SHT_PROGBITS;
  }
  Image image() const {
    Image image;
    append(image, file);
    append(image, segment);
    append(image, section);
    image.resize(image.size() + kDataBytes);
    return image;
  }
};

TEST_CASE("An ELF file for AMD GPUs whose headers stay within it is an image") {
  CHECK_NOTHROW(check_image(runtime::empty_image()));
  Parts parts;
  CHECK_NOTHROW(check_image(parts.image()));
  parts.section.sh_type = SHT_NOBITS;  // has no bytes in the file
  parts.section.sh_size = 1000;
  CHECK_NOTHROW(check_image(parts.image()));
}

TEST_CASE("An image that is cut anywhere, of another machine, or that points outside of itself is refused") {
  const Image image = Parts().image();
  for (std::size_t size = 0; size < image.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(check_image(std::span(image).first(size)), CodeObjectError);
  }
  const auto refused = [](const auto& change) {
    Parts parts;
    change(parts);
    CHECK_THROWS_AS(check_image(parts.image()), CodeObjectError);
  };
  constexpr auto kHuge = ~std::uint64_t{0};
  refused([](Parts& parts) { parts.file.e_ident[0] = 0; });
  refused([](Parts& parts) { parts.file.e_ident[EI_CLASS] = ELFCLASS32; });
  refused([](Parts& parts) { parts.file.e_machine = EM_X86_64; });
  refused([](Parts& parts) { parts.file.e_phoff = kHuge; });
  refused([](Parts& parts) { parts.file.e_phentsize = 1; });
  refused([](Parts& parts) { parts.file.e_shnum = 0xFFFF; });
  refused([](Parts& parts) { parts.segment.p_offset = kHuge; });
  refused([](Parts& parts) { parts.segment.p_filesz = kHuge; });
  refused([](Parts& parts) { parts.section.sh_offset = Parts::kData + 1; });
  refused([](Parts& parts) { parts.section.sh_size = kHuge; });
}

TEST_CASE("Bytes that are no image are refused, and are never read beyond their end") {
  constexpr int kImages = 2000;
  constexpr std::uint64_t kSeed = 3;
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < kImages; ++i) {
    Image image = Parts().image();
    image[random() % sizeof(Elf64_Ehdr)] = static_cast<std::byte>(random());
    image.shrink_to_fit();  // so that a sanitizer sees a read beyond it
    try {
      check_image(image);
    } catch (const CodeObjectError&) {
      continue;
    }
  }
  CHECK_THROWS_AS(check_image({}), CodeObjectError);
}

}  // namespace
}  // namespace monojit::runtime
