#include "runtime/image.h"

#include <cstdint>
#include <cstring>
#include <string>

#include <elf.h>
#include <fmt/format.h>

#include "runtime/arguments.h"

namespace monojit::runtime {
namespace {

constexpr Elf64_Half kAmdGpu = 224;  // EM_AMDGPU

Elf64_Ehdr header_of_images() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = kAmdGpu;
  return header;
}

[[noreturn]] void refuse(const std::string& why) {
  throw CodeObjectError(fmt::format("the code object is no image that a GPU can load: {}", why));
}

bool fits(std::span<const std::byte> image, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= image.size() && bytes <= image.size() - offset;
}

/// `number` headers from `offset` on; gives each to `check`.
template <class Header, class Check>
void each_header(std::span<const std::byte> image, std::uint64_t offset, std::uint64_t number, std::uint64_t size,
                 const Check& check) {
  if (number == 0) return;
  if (size != sizeof(Header) || !fits(image, offset, number * size)) refuse("its table of headers is not within it");
  for (std::uint64_t i = 0; i < number; ++i) {
    Header header;
    std::memcpy(&header, image.data() + offset + i * size, sizeof header);
    check(header);
  }
}

}  // namespace

void check_image(std::span<const std::byte> image) {
  Elf64_Ehdr file;
  if (image.size() < sizeof file) refuse(fmt::format("{} bytes are less than an ELF header", image.size()));
  std::memcpy(&file, image.data(), sizeof file);
  const Elf64_Ehdr wanted = header_of_images();
  if (std::memcmp(file.e_ident, wanted.e_ident, EI_VERSION) != 0 || file.e_machine != wanted.e_machine) {
    refuse("it is no ELF file for AMD GPUs");
  }
  each_header<Elf64_Phdr>(image, file.e_phoff, file.e_phnum, file.e_phentsize, [&](const Elf64_Phdr& segment) {
    if (!fits(image, segment.p_offset, segment.p_filesz)) refuse("a segment is not within it");
  });
  each_header<Elf64_Shdr>(image, file.e_shoff, file.e_shnum, file.e_shentsize, [&](const Elf64_Shdr& section) {
    if (section.sh_type != SHT_NOBITS && !fits(image, section.sh_offset, section.sh_size))
      refuse("a section is not within it");
  });
}

std::vector<std::byte> empty_image() {
  const Elf64_Ehdr header = header_of_images();
  const auto bytes = std::as_bytes(std::span(&header, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace monojit::runtime
