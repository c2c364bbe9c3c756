"""Entries of the cache as docs/cache-format.md has them: read, changed, sealed again with a right checksum and a right name."""

import ctypes
import struct
from pathlib import Path

MAGIC = b"\x89MONO\r\n\x1a"
VERSION = 1
KEY = ("family", "text", "bytes", "target", "options", "generator", "toolchain")
PARTS = (*KEY, "metadata", "code_object")
CHECKSUM_BYTES = 32


def blake3(data):
    library = ctypes.CDLL("libblake3.so.0")
    hasher = ctypes.create_string_buffer(1 << 14)  # larger than the library's state
    digest = ctypes.create_string_buffer(CHECKSUM_BYTES)
    library.blake3_hasher_init(hasher)
    library.blake3_hasher_update(hasher, data, ctypes.c_size_t(len(data)))
    library.blake3_hasher_finalize(hasher, digest, ctypes.c_size_t(CHECKSUM_BYTES))
    return digest.raw


def blob(data):
    return struct.pack("<Q", len(data)) + data


def parts_of(file):
    """The parts of a sound entry by name."""
    data = Path(file).read_bytes()
    assert data.startswith(MAGIC) and blake3(data[:-CHECKSUM_BYTES]) == data[-CHECKSUM_BYTES:]
    at = len(MAGIC) + 12
    parts = {}
    for name in PARTS:
        (size,) = struct.unpack_from("<Q", data, at)
        parts[name] = data[at + 8:at + 8 + size]
        at += 8 + size
    return parts


def encoded(parts, version=VERSION):
    body = b"".join(blob(parts[name]) for name in PARTS)
    size = len(MAGIC) + 12 + len(body) + CHECKSUM_BYTES
    head = MAGIC + struct.pack("<IQ", version, size) + body
    return head + blake3(head)


def digest_of(parts):
    return blake3(b"".join(map(blob, [b"monojit cache key 1", *(parts[name] for name in KEY)]))).hex()


def add_to(folder, parts):
    """Puts an entry where its key belongs; gives the file."""
    digest = digest_of(parts)
    file = Path(folder) / "entries" / digest[:2] / f"{digest}.mono"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(encoded(parts))
    return file
