#include "runtime/image.h"

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

namespace monojit::runtime {
namespace {

constexpr Elf64_Half kAmdGpu = 224;    // EM_AMDGPU
constexpr Elf64_Word kMachMask = 255;  // EF_AMDGPU_MACH
constexpr std::string_view kNoteOwner = "AMDGPU";
constexpr Elf64_Word kMetadataNote = 32;  // NT_AMDGPU_METADATA
constexpr std::string_view kDescriptorSuffix = ".kd";
constexpr std::uint64_t kDescriptorBytes = 64;

struct Chip {
  std::string_view arch;
  Elf64_Word machine;  ///< in e_flags
};
constexpr Chip kChips[] = {{"gfx942", 0x4c}, {"gfx950", 0x4f}};

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

/// Where `symbol` is in memory, as a table of symbols has it. Refuses a table that lacks it.
Elf64_Addr address_in(const Image& image, const Elf64_Shdr& table, const std::vector<Elf64_Shdr>& sections,
                      std::string_view symbol) {
  if (table.sh_link >= sections.size()) refuse("a table of symbols has no names");
  const Elf64_Shdr& names = sections[table.sh_link];
  const auto strings = image.part(names.sh_offset, names.sh_size, "a table of names");
  for (std::uint64_t i = 1; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto entry = image.at<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym), "a symbol");
    if (entry.st_shndx != SHN_UNDEF && is_text_at(strings, entry.st_name, symbol)) return entry.st_value;
  }
  refuse(fmt::format("it has no symbol {}", symbol));
}

/// Loaders take one table of symbols or the other, so that each must have the kernel's descriptor, in memory.
void check_symbols(const Image& image, const std::vector<Elf64_Phdr>& segments, const std::vector<Elf64_Shdr>& sections,
                   std::string_view descriptor) {
  bool found = false;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    const Elf64_Addr address = address_in(image, section, sections, descriptor);
    found = std::ranges::any_of(segments, [&](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && address >= segment.p_vaddr && segment.p_filesz >= kDescriptorBytes &&
             address - segment.p_vaddr <= segment.p_filesz - kDescriptorBytes;
    });
    if (!found) refuse(fmt::format("{} lies outside of its segments", descriptor));
  }
  if (!found) refuse("it has no symbols");
}

constexpr std::uint64_t aligned(std::uint64_t size) { return (size + 3) / 4 * 4; }

/// Whether the notes of a segment have metadata that name the descriptor. They are not read any further.
bool is_noted(const Image& image, const Elf64_Phdr& segment, std::string_view descriptor) {
  const std::uint64_t end = segment.p_offset + segment.p_filesz;
  for (std::uint64_t at = segment.p_offset; at < end && end - at >= sizeof(Elf64_Nhdr);) {
    const auto note = image.at<Elf64_Nhdr>(at, "a note");
    at += sizeof note;
    const auto owner = image.part(at, note.n_namesz, "a note");
    at += aligned(note.n_namesz);
    const auto content = image.part(at, note.n_descsz, "a note");
    at += aligned(note.n_descsz);
    if (note.n_type != kMetadataNote || !is_text_at(owner, 0, kNoteOwner)) continue;
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    if (text.find(descriptor) != std::string_view::npos) return true;
  }
  return false;
}

/// All of a hollow image but for the descriptor's name, which follows the owner of the note.
struct Hollow {
  Elf64_Ehdr file;
  Elf64_Phdr segments[2];
  Elf64_Shdr sections[3];
  Elf64_Sym symbols[2];
  Elf64_Nhdr note;
  std::array<char, aligned(kNoteOwner.size() + 1)> owner;
};
constexpr std::uint64_t kHollowBytes = offsetof(Hollow, owner) + sizeof(Hollow::owner);

void fill_header(Elf64_Ehdr& file, std::string_view arch) {
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_type = ET_DYN;
  file.e_machine = kAmdGpu;
  file.e_flags = machine_of(arch);
  file.e_phoff = offsetof(Hollow, segments);
  file.e_phnum = std::size(Hollow{}.segments);
  file.e_phentsize = sizeof(Elf64_Phdr);
  file.e_shoff = offsetof(Hollow, sections);
  file.e_shnum = std::size(Hollow{}.sections);
  file.e_shentsize = sizeof(Elf64_Shdr);
}

}  // namespace

void check_image(std::span<const std::byte> bytes, std::string_view arch, std::string_view symbol) {
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
  check_symbols(image, segments, sections, descriptor);
  const auto notes = [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_NOTE && is_noted(image, segment, descriptor);
  };
  if (std::ranges::none_of(segments, notes)) refuse(fmt::format("its metadata do not have {}", descriptor));
}

std::vector<std::byte> hollow_image(std::string_view arch, std::string_view symbol) {
  const std::string descriptor = std::string(symbol).append(kDescriptorSuffix);
  const std::uint64_t text_bytes = aligned(descriptor.size() + 1);
  Hollow parts{};
  fill_header(parts.file, arch);
  auto& [load, notes] = parts.segments;
  load.p_type = PT_LOAD;
  load.p_filesz = load.p_memsz = kHollowBytes + text_bytes;
  notes.p_type = PT_NOTE;
  notes.p_offset = offsetof(Hollow, note);
  notes.p_filesz = load.p_filesz - notes.p_offset;
  auto& [unused, symbols, names] = parts.sections;
  symbols.sh_type = SHT_DYNSYM;
  symbols.sh_offset = offsetof(Hollow, symbols);
  symbols.sh_size = sizeof parts.symbols;
  symbols.sh_link = 2;
  names.sh_type = SHT_STRTAB;
  names.sh_offset = kHollowBytes;
  names.sh_size = text_bytes;
  parts.symbols[1].st_shndx = 1;  // a descriptor at address 0, which is the file's header
  parts.note = {kNoteOwner.size() + 1, static_cast<Elf64_Word>(text_bytes), kMetadataNote};
  std::ranges::copy(kNoteOwner, parts.owner.begin());
  std::vector<std::byte> image(kHollowBytes + text_bytes);
  std::memcpy(image.data(), &parts, kHollowBytes);
  std::memcpy(image.data() + kHollowBytes, descriptor.data(), descriptor.size());
  return image;
}

}  // namespace monojit::runtime
