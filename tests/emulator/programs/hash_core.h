// SHA-256, MD5, CRC-32 and AES-128, from their standards, for a message of one block.
#pragma once

#include "both.h"

CORE uint rotated_left(uint value, uint bits) { return value << bits | value >> (32 - bits); }
CORE uint rotated_right(uint value, uint bits) { return value >> bits | value << (32 - bits); }

TABLE uint kSha256Round[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// `block`: 64 bytes, padded. `state`: 8 words.
CORE void sha256(const uchar* block, uint* state) {
  const uint start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint w[64];
  for (uint i = 0; i < 16; ++i) {
    w[i] = (uint)block[4 * i] << 24 | (uint)block[4 * i + 1] << 16 | (uint)block[4 * i + 2] << 8 | block[4 * i + 3];
  }
  for (uint i = 16; i < 64; ++i) {
    const uint s0 = rotated_right(w[i - 15], 7) ^ rotated_right(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint s1 = rotated_right(w[i - 2], 17) ^ rotated_right(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint v[8];
  for (uint i = 0; i < 8; ++i) v[i] = start[i];
  for (uint i = 0; i < 64; ++i) {
    const uint s1 = rotated_right(v[4], 6) ^ rotated_right(v[4], 11) ^ rotated_right(v[4], 25);
    const uint t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + kSha256Round[i] + w[i];
    const uint s0 = rotated_right(v[0], 2) ^ rotated_right(v[0], 13) ^ rotated_right(v[0], 22);
    const uint t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    for (uint k = 7; k > 0; --k) v[k] = v[k - 1];
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (uint i = 0; i < 8; ++i) state[i] = start[i] + v[i];
}

TABLE uchar kMd5Rotation[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

// `sines`: floor(2^32 * |sin(i + 1)|), 64 words.
CORE void md5(const uchar* block, const uint* sines, uint* state) {
  uint m[16];
  for (uint i = 0; i < 16; ++i) {
    m[i] = block[4 * i] | (uint)block[4 * i + 1] << 8 | (uint)block[4 * i + 2] << 16 | (uint)block[4 * i + 3] << 24;
  }
  uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  for (uint i = 0; i < 64; ++i) {
    uint f, g;
    switch (i / 16) {
      case 0:
        f = (b & c) | (~b & d), g = i;
        break;
      case 1:
        f = (d & b) | (~d & c), g = (5 * i + 1) % 16;
        break;
      case 2:
        f = b ^ c ^ d, g = (3 * i + 5) % 16;
        break;
      default:
        f = c ^ (b | ~d), g = 7 * i % 16;
        break;
    }
    f += a + sines[i] + m[g];
    a = d;
    d = c;
    c = b;
    b += rotated_left(f, kMd5Rotation[i / 16 * 4 + i % 4]);
  }
  state[0] = a + 0x67452301;
  state[1] = b + 0xefcdab89;
  state[2] = c + 0x98badcfe;
  state[3] = d + 0x10325476;
}

CORE uint crc32(const uchar* bytes, uint count) {
  uint crc = ~0u;
  for (uint i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (uint bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

CORE uchar doubled(uchar x) { return (uchar)(x << 1 ^ (x >> 7) * 0x1b); }

// Encrypts 16 bytes in place with the S-box of 256 bytes.
#define DEFINE_AES(NAME, BOX)                                                                                   \
  CORE void NAME(uchar* text, const uchar* key, BOX box) {                                                      \
    uchar round_key[16];                                                                                        \
    for (uint i = 0; i < 16; ++i) {                                                                             \
      round_key[i] = key[i];                                                                                    \
      text[i] ^= key[i];                                                                                        \
    }                                                                                                           \
    uchar constant_byte = 1;                                                                                    \
    for (uint round = 1; round <= 10; ++round) {                                                                \
      const uchar turned[4] = {box[round_key[13]], box[round_key[14]], box[round_key[15]], box[round_key[12]]}; \
      for (uint i = 0; i < 4; ++i) round_key[i] ^= turned[i];                                                   \
      round_key[0] ^= constant_byte;                                                                            \
      constant_byte = doubled(constant_byte);                                                                   \
      for (uint i = 4; i < 16; ++i) round_key[i] ^= round_key[i - 4];                                           \
      uchar shifted[16];                                                                                        \
      for (uint i = 0; i < 16; ++i) shifted[i] = box[text[(i + 4 * (i % 4)) % 16]];                             \
      for (uint column = 0; column < 16; column += 4) {                                                         \
        const uchar all = shifted[column] ^ shifted[column + 1] ^ shifted[column + 2] ^ shifted[column + 3];    \
        for (uint i = 0; i < 4; ++i) {                                                                          \
          const uchar own = shifted[column + i];                                                                \
          const uchar mixed = own ^ all ^ doubled(own ^ shifted[column + (i + 1) % 4]);                         \
          text[column + i] = (round == 10 ? own : mixed) ^ round_key[column + i];                               \
        }                                                                                                       \
      }                                                                                                         \
    }                                                                                                           \
  }
