#include "runtime/image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>
#include <fmt/format.h>

#include "runtime/arguments.h"
#include "runtime/image_format.h"
#include "runtime/image_note.h"

namespace monojit::runtime {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw CodeObjectError(fmt::format("the code object is no image that a GPU can load: {}", why));
}

Elf64_Word machine_of(std::string_view arch) {
  const auto* const chip = std::ranges::find(kChips, arch, &Chip::arch);
  if (chip == std::end(kChips)) refuse(fmt::format("{} is no chip that kernels are built for", arch));
  return chip->machine;
}

std::string chip_text(Elf64_Word machine) {
  const auto* const chip = std::ranges::find(kChips, machine, &Chip::machine);
  return chip != std::end(kChips) ? std::string(chip->arch) : fmt::format("machine {:#x}", machine);
}

/// An ELF file whose every part is looked for within its bytes.
class Image {
 public:
  explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t size, const char* what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) refuse(fmt::format("{} is not within it", what));
    return bytes_.subspan(offset, size);
  }
  template <class T>
  T at(std::uint64_t offset, const char* what) const {
    T value;
    std::memcpy(&value, part(offset, sizeof value, what).data(), sizeof value);
    return value;
  }
  /// `number` headers from `offset` on.
  template <class Header>
  std::vector<Header> headers(std::uint64_t offset, std::uint64_t number, std::uint64_t size) const {
    if (number == 0) return {};
    if (size != sizeof(Header)) refuse("its headers have another size");
    std::vector<Header> headers(number);
    const auto table = part(offset, number * size, "its table of headers");
    std::memcpy(headers.data(), table.data(), table.size());
    return headers;
  }

 private:
  std::span<const std::byte> bytes_;
};

bool is_text_at(std::span<const std::byte> strings, std::uint64_t offset, std::string_view text) {
  if (offset >= strings.size() || strings.size() - offset <= text.size()) return false;
  return std::memcmp(strings.data() + offset, text.data(), text.size()) == 0 &&
         strings[offset + text.size()] == std::byte{0};
}

/// `name` as a table of symbols has it. Refuses a table that lacks it.
Elf64_Sym symbol_in(const Image& image, const Elf64_Shdr& table, const std::vector<Elf64_Shdr>& sections,
                    std::string_view name) {
  if (table.sh_link >= sections.size()) refuse("a table of symbols has no names");
  const Elf64_Shdr& names = sections[table.sh_link];
  const auto strings = image.part(names.sh_offset, names.sh_size, "a table of names");
  for (std::uint64_t i = 1; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = image.at<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym), "a symbol");
    if (symbol.st_shndx != SHN_UNDEF && is_text_at(strings, symbol.st_name, name)) return symbol;
  }
  refuse(fmt::format("it has no symbol {}", name));
}

/// Loaders take one table of symbols or the other, so that each must have the kernel's code, and its descriptor in
/// memory. Gives the size of the code.
std::uint64_t check_symbols(const Image& image, const std::vector<Elf64_Phdr>& segments,
                            const std::vector<Elf64_Shdr>& sections, std::string_view kernel,
                            std::string_view descriptor) {
  bool found = false;
  std::uint64_t code_bytes = 0;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    const Elf64_Addr address = symbol_in(image, section, sections, descriptor).st_value;
    found = std::ranges::any_of(segments, [&](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && address >= segment.p_vaddr && segment.p_filesz >= kDescriptorBytes &&
             address - segment.p_vaddr <= segment.p_filesz - kDescriptorBytes;
    });
    if (!found) refuse(fmt::format("{} lies outside of its segments", descriptor));
    code_bytes = symbol_in(image, section, sections, kernel).st_size;
  }
  if (!found) refuse("it has no symbols");
  return code_bytes;
}

/// What the first metadata among the notes of a segment say of the kernel.
std::optional<KernelRecord> noted_in(const Image& image, const Elf64_Phdr& segment, std::string_view descriptor) {
  const std::uint64_t end = segment.p_offset + segment.p_filesz;
  for (std::uint64_t at = segment.p_offset; at < end && end - at >= sizeof(Elf64_Nhdr);) {
    const auto note = image.at<Elf64_Nhdr>(at, "a note");
    at += sizeof note;
    const auto owner = image.part(at, note.n_namesz, "a note");
    at += note_aligned(note.n_namesz);
    const auto content = image.part(at, note.n_descsz, "a note");
    at += note_aligned(note.n_descsz);
    if (note.n_type == kMetadataNote && is_text_at(owner, 0, kNoteOwner)) return noted_kernel(content, descriptor);
  }
  return std::nullopt;
}

/// What the metadata say of the kernel.
KernelRecord noted(const Image& image, const std::vector<Elf64_Phdr>& segments, std::string_view descriptor) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_NOTE) continue;
    if (auto kernel = noted_in(image, segment, descriptor)) return *std::move(kernel);
  }
  refuse(fmt::format("its metadata do not have {}", descriptor));
}

}  // namespace

KernelRecord image_record(std::span<const std::byte> bytes, std::string_view arch, std::string_view symbol) {
  const Image image(bytes);
  if (bytes.size() < sizeof(Elf64_Ehdr)) refuse(fmt::format("{} bytes are less than an ELF header", bytes.size()));
  const auto file = image.at<Elf64_Ehdr>(0, "its header");
  if (std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
      file.e_ident[EI_DATA] != ELFDATA2LSB || file.e_machine != kAmdGpu)
    refuse("it is no ELF file for AMD GPUs");
  if (const Elf64_Word machine = file.e_flags & kMachMask; machine != machine_of(arch))
    refuse(fmt::format("it is for {}, not for {}", chip_text(machine), arch));
  if (file.e_type != ET_DYN) refuse("it is not linked");
  const auto segments = image.headers<Elf64_Phdr>(file.e_phoff, file.e_phnum, file.e_phentsize);
  for (const Elf64_Phdr& segment : segments) (void)image.part(segment.p_offset, segment.p_filesz, "a segment");
  const auto sections = image.headers<Elf64_Shdr>(file.e_shoff, file.e_shnum, file.e_shentsize);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_NOBITS) (void)image.part(section.sh_offset, section.sh_size, "a section");
  }
  const std::string descriptor = std::string(symbol).append(kDescriptorSuffix);
  const std::uint64_t code_bytes = check_symbols(image, segments, sections, symbol, descriptor);
  KernelRecord record = noted(image, segments, descriptor);
  record.symbol = symbol;
  record.resources.code_bytes = static_cast<std::uint32_t>(code_bytes);
  return record;
}

}  // namespace monojit::runtime
