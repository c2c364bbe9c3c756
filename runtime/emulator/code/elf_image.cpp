#include "runtime/emulator/code/elf_image.h"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

#include "runtime/emulator/failure.h"

namespace monojit::emulator {
namespace {

constexpr u16 kMachineAmdGpu = 224;
constexpr u32 kMachMask = 0xff;
constexpr u32 kNoteMetadata = 32;
constexpr std::string_view kNoteName = "AMDGPU";

[[noreturn]] void refuse(const std::string& what) { throw Failure(FailureKind::kInvalidImage, "code object: " + what); }

/// Reads with every offset checked against the file.
class Reader {
 public:
  explicit Reader(std::span<const u8> bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] T at(u64 offset, std::string_view what) const {
    T value;
    std::memcpy(&value, piece(offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::span<const u8> piece(u64 offset, u64 size, std::string_view what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      refuse(fmt::format("truncated: its {} lies outside the file", what));
    return bytes_.subspan(offset, size);
  }
  [[nodiscard]] std::string_view text(u64 table, u64 table_bytes, u64 offset) const {
    if (offset >= table_bytes) return {};
    const auto strings = piece(table, table_bytes, "string table").subspan(offset);
    const auto* const begin = reinterpret_cast<const char*>(strings.data());
    return {begin, strnlen(begin, strings.size())};
  }

 private:
  std::span<const u8> bytes_;
};

Elf64_Ehdr read_header(const Reader& reader) {
  if (std::memcmp(reader.piece(0, SELFMAG, "ELF header").data(), ELFMAG, SELFMAG) != 0) refuse("not an ELF file");
  const auto header = reader.at<Elf64_Ehdr>(0, "ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachineAmdGpu) {
    refuse(fmt::format("an ELF file of machine {}, not a 64-bit AMDGPU one", header.e_machine));
  }
  if (header.e_type != ET_DYN)
    refuse("not linked: an executable (shared object) is needed, this is a relocatable file");
  return header;
}

std::string_view chip_name(u32 machine) {
  for (const ChipLimits* chip : kChips) {
    if (chip->elf_machine == machine) return chip->arch;
  }
  return "another chip";
}

void read_notes(const Reader& reader, const Elf64_Phdr& segment, ElfImage& image) {
  const auto align4 = [](u64 value) { return (value + 3) / 4 * 4; };
  u64 offset = segment.p_offset;
  const u64 end = segment.p_offset + segment.p_filesz;
  while (offset + sizeof(Elf64_Nhdr) <= end) {
    const auto note = reader.at<Elf64_Nhdr>(offset, "note");
    const u64 name = offset + sizeof note;
    const u64 content = name + align4(note.n_namesz);
    const auto name_bytes = reader.piece(name, note.n_namesz, "note name");
    const std::string_view owner(reinterpret_cast<const char*>(name_bytes.data()),
                                 note.n_namesz == 0 ? 0 : note.n_namesz - 1);
    if (note.n_type == kNoteMetadata && owner == kNoteName)
      image.metadata = reader.piece(content, note.n_descsz, "metadata note");
    offset = content + align4(note.n_descsz);
  }
}

struct Tables {
  u64 symbols = 0, symbol_count = 0, strings = 0, string_bytes = 0;
};

ElfSymbol read_symbol(const Reader& reader, const Tables& tables, u64 index) {
  const auto symbol = reader.at<Elf64_Sym>(tables.symbols + index * sizeof(Elf64_Sym), "symbol");
  return {.name = reader.text(tables.strings, tables.string_bytes, symbol.st_name),
          .address = symbol.st_value,
          .bytes = symbol.st_size,
          .function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
          .defined = symbol.st_shndx != SHN_UNDEF};
}

void read_sections(const Reader& reader, const Elf64_Ehdr& header, ElfImage& image) {
  const auto section_at = [&](u64 index) {
    return reader.at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr), "section header");
  };
  const auto tables_of = [&](const Elf64_Shdr& section) {
    const Elf64_Shdr strings = section_at(section.sh_link);
    return Tables{section.sh_offset, section.sh_size / sizeof(Elf64_Sym), strings.sh_offset, strings.sh_size};
  };
  u32 best = SHT_NULL;  // the full symbol table, or the dynamic one of a stripped file
  for (u64 i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = section_at(i);
    if (section.sh_type == SHT_SYMTAB || (section.sh_type == SHT_DYNSYM && best != SHT_SYMTAB)) {
      const Tables tables = tables_of(section);
      best = section.sh_type;
      image.symbols.clear();
      for (u64 k = 1; k < tables.symbol_count; ++k) image.symbols.push_back(read_symbol(reader, tables, k));
    }
    if (section.sh_type == SHT_RELA) {
      const Tables tables = tables_of(section_at(section.sh_link));
      for (u64 k = 0; k < section.sh_size / sizeof(Elf64_Rela); ++k) {
        const auto rela = reader.at<Elf64_Rela>(section.sh_offset + k * sizeof(Elf64_Rela), "relocation");
        const ElfSymbol symbol = ELF64_R_SYM(rela.r_info) == 0 ? ElfSymbol{{}, 0, 0, false, true}
                                                               : read_symbol(reader, tables, ELF64_R_SYM(rela.r_info));
        image.relocations.push_back({rela.r_offset, static_cast<u32>(ELF64_R_TYPE(rela.r_info)), symbol.name,
                                     symbol.address, symbol.defined, rela.r_addend});
      }
    }
  }
}

}  // namespace

ElfImage ElfImage::parse(std::span<const u8> bytes, const ChipLimits& chip) {
  const u32 machine = read_header(Reader(bytes)).e_flags & kMachMask;
  if (machine != chip.elf_machine) {
    throw Failure(
        FailureKind::kWrongChip,
        fmt::format("code object for {} (machine {:#x}) on an emulated {}: build for {} or set MONOJIT_EMULATOR_CHIP",
                    chip_name(machine), machine, chip.arch, chip.arch));
  }
  return parse(bytes);
}

ElfImage ElfImage::parse(std::span<const u8> bytes) {
  const Reader reader(bytes);
  const Elf64_Ehdr header = read_header(reader);
  ElfImage image;
  image.machine = header.e_flags & kMachMask;
  for (u64 i = 0; i < header.e_phnum; ++i) {
    const auto segment = reader.at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr), "program header");
    if (segment.p_type == PT_NOTE) read_notes(reader, segment, image);
    if (segment.p_type != PT_LOAD) continue;
    image.segments.push_back({segment.p_vaddr, segment.p_memsz,
                              reader.piece(segment.p_offset, segment.p_filesz, "segment"),
                              (segment.p_flags & PF_X) != 0});
  }
  if (image.segments.empty()) refuse("nothing to load in it");
  read_sections(reader, header, image);
  return image;
}

std::span<const u8> ElfImage::content(u64 address, u64 bytes) const {
  for (const ElfSegment& segment : segments) {
    if (address < segment.address) continue;
    const u64 offset = address - segment.address;
    if (offset <= segment.content.size() && bytes <= segment.content.size() - offset)
      return segment.content.subspan(offset, bytes);
  }
  refuse(fmt::format("{} bytes at {:#x} lie outside its segments", bytes, address));
}

std::vector<std::string> ElfImage::kernel_names() const {
  std::vector<std::string> names;
  for (const ElfSymbol& symbol : symbols) {
    if (symbol.defined && symbol.name.ends_with(kDescriptorSuffix)) {
      names.emplace_back(symbol.name.substr(0, symbol.name.size() - kDescriptorSuffix.size()));
    }
  }
  return names;
}

u64 elf_file_bytes(const void* image) {
  const auto* const bytes = static_cast<const u8*>(image);
  if (image == nullptr || std::memcmp(bytes, ELFMAG, SELFMAG) != 0) refuse("not an ELF file");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  u64 end = std::max<u64>(sizeof header, header.e_shoff + u64{header.e_shnum} * sizeof(Elf64_Shdr));
  end = std::max<u64>(end, header.e_phoff + u64{header.e_phnum} * sizeof(Elf64_Phdr));
  for (u64 i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
    end = std::max<u64>(end, segment.p_offset + segment.p_filesz);
  }
  for (u64 i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max<u64>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

}  // namespace monojit::emulator
