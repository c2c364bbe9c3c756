#include "runtime/hollow_image.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>

#include <elf.h>
#include <fmt/format.h>

#include "runtime/arguments.h"
#include "runtime/image_format.h"
#include "runtime/image_note.h"

namespace monojit::runtime {
namespace {

/// All of a hollow image but for the content of its note, which follows the owner, and the names of its symbols, which
/// follow that.
struct Hollow {
  Elf64_Ehdr file;
  Elf64_Phdr segments[2];
  Elf64_Shdr sections[3];
  Elf64_Sym symbols[3];
  Elf64_Nhdr note;
  std::array<char, note_aligned(kNoteOwner.size() + 1)> owner;
};
constexpr std::uint64_t kHollowBytes = offsetof(Hollow, owner) + sizeof(Hollow::owner);

void fill_header(Elf64_Ehdr& file, std::string_view arch) {
  const auto* const chip = std::ranges::find(kChips, arch, &Chip::arch);
  if (chip == std::end(kChips)) throw CodeObjectError(fmt::format("{} is no chip that kernels are built for", arch));
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_type = ET_DYN;
  file.e_machine = kAmdGpu;
  file.e_flags = chip->machine;
  file.e_phoff = offsetof(Hollow, segments);
  file.e_phnum = std::size(Hollow{}.segments);
  file.e_phentsize = sizeof(Elf64_Phdr);
  file.e_shoff = offsetof(Hollow, sections);
  file.e_shnum = std::size(Hollow{}.sections);
  file.e_shentsize = sizeof(Elf64_Shdr);
}

}  // namespace

std::vector<std::byte> hollow_image(std::string_view arch, const KernelRecord& record) {
  const std::string descriptor = record.symbol + std::string(kDescriptorSuffix);
  std::vector<std::byte> note = note_of(record, descriptor);
  const std::size_t note_bytes = note.size();
  note.resize(note_aligned(note_bytes));
  const std::string text = descriptor + '\0' + record.symbol + '\0';
  Hollow parts{};
  fill_header(parts.file, arch);
  auto& [load, notes] = parts.segments;
  load.p_type = PT_LOAD;
  load.p_filesz = load.p_memsz = kHollowBytes + note.size() + text.size();
  notes.p_type = PT_NOTE;
  notes.p_offset = offsetof(Hollow, note);
  notes.p_filesz = kHollowBytes + note.size() - notes.p_offset;
  auto& [unused, symbols, names] = parts.sections;
  symbols.sh_type = SHT_DYNSYM;
  symbols.sh_offset = offsetof(Hollow, symbols);
  symbols.sh_size = sizeof parts.symbols;
  symbols.sh_link = 2;
  names.sh_type = SHT_STRTAB;
  names.sh_offset = kHollowBytes + note.size();
  names.sh_size = text.size();
  auto& [none, data, code] = parts.symbols;
  data.st_shndx = 1;  // a descriptor at address 0, which is the file's header
  code.st_shndx = 1;
  code.st_name = static_cast<Elf64_Word>(descriptor.size() + 1);
  code.st_size = record.resources.code_bytes;
  parts.note = {kNoteOwner.size() + 1, static_cast<Elf64_Word>(note_bytes), kMetadataNote};
  std::ranges::copy(kNoteOwner, parts.owner.begin());
  std::vector<std::byte> image(load.p_filesz);
  std::memcpy(image.data(), &parts, kHollowBytes);
  std::ranges::copy(note, image.begin() + kHollowBytes);
  std::ranges::copy(std::as_bytes(std::span(text)), image.begin() + static_cast<std::ptrdiff_t>(names.sh_offset));
  return image;
}

}  // namespace monojit::runtime
