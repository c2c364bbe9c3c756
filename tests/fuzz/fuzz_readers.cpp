// libFuzzer: the first byte chooses a reader, the rest is what it reads. docs/cache-format.md has the formats.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/archive.h"
#include "cache/digest.h"
#include "cache/entry.h"
#include "cache/limits.h"
#include "cache/remote/url.h"

namespace monojit::cache {
namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

/// What is taken for an entry encodes to the same bytes: nothing in a file is without meaning.
void read_entry(std::span<const std::byte> bytes) {
  const DecodedEntry decoded = decode(bytes);
  const auto* entry = std::get_if<Entry>(&decoded);
  const DecodedHead decoded_head = decode_head(bytes.first(std::min(bytes.size(), kHeadBytes)), bytes.size());
  if (entry == nullptr) return;
  demand(std::ranges::equal(encode(*entry), bytes));
  const auto* head = std::get_if<EntryHead>(&decoded_head);
  if (bytes.size() <= kHeadBytes) demand(head != nullptr);
  if (head != nullptr) demand(head->key == entry->key && head->code_bytes == entry->code_object.size());
}

/// The same behind a right checksum, which no fuzzer finds by itself: the last 32 bytes are set to it.
void read_sealed_entry(std::span<const std::byte> bytes) {
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  if (file.size() < sizeof(Digest)) return;
  const auto body = std::span(file).first(file.size() - sizeof(Digest));
  std::ranges::copy(digest_of(body), file.end() - sizeof(Digest));
  read_entry(file);
}

void read_archive(std::span<const std::byte> bytes) {
  static const int descriptor = ::memfd_create("archive", MFD_CLOEXEC);
  demand(::ftruncate(descriptor, 0) == 0);
  demand(::pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  const auto opened = Archive::open(fmt::format("/proc/self/fd/{}", descriptor));
  const auto* archive = std::get_if<std::shared_ptr<const Archive>>(&opened);
  if (archive == nullptr) return;
  for (const ArchiveItem& item : (*archive)->items()) {
    demand((*archive)->find(item.digest) != nullptr);
    constexpr std::uint64_t kSmall = 1 << 20;
    if (item.entry_bytes > kSmall) continue;
    const auto read = (*archive)->read(item);
    if (const auto* entry = std::get_if<std::vector<std::byte>>(&read)) read_entry(*entry);
  }
}

void read_texts(std::string_view text) {
  parse_size(text);
  parse_age(text);
  const auto parsed = parse_remote_url(text);
  const auto* url = std::get_if<RemoteUrl>(&parsed);
  if (url != nullptr) demand(!url->host.empty() && url->port > 0 && url->timeout.count() > 0);
}

}  // namespace
}  // namespace monojit::cache

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace monojit::cache;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0]) {
    case 'e':
      read_entry(bytes);
      break;
    case 's':
      read_sealed_entry(bytes);
      break;
    case 'a':
      read_archive(bytes);
      break;
    default:
      read_texts({reinterpret_cast<const char*>(data + 1), size - 1});
  }
  return 0;
}
