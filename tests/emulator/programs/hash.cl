// Hashes and a cipher: bytes in private arrays, tables in constant memory and in LDS, rotations.
#include "hash_core.h"

kernel void sha256_blocks(global const uchar* blocks, global uint* states) {
  const uint item = get_global_id(0);
  uchar block[64];
  uint state[8];
  for (uint i = 0; i < 64; ++i) block[i] = blocks[64 * item + i];
  sha256(block, state);
  for (uint i = 0; i < 8; ++i) states[8 * item + i] = state[i];
}

kernel void md5_blocks(global const uchar* blocks, global uint* states) {
  const uint item = get_global_id(0);
  uchar block[64];
  uint state[4], sines[64];
  for (uint i = 0; i < 64; ++i) {
    block[i] = blocks[64 * item + i];
    sines[i] = (uint)(4294967296.0 * fabs(sin((double)(i + 1))));
  }
  md5(block, sines, state);
  for (uint i = 0; i < 4; ++i) states[4 * item + i] = state[i];
}

kernel void crc32_messages(global const uchar* bytes, global const uint* lengths, global uint* sums) {
  const uint item = get_global_id(0);
  uchar message[64];
  for (uint i = 0; i < lengths[item]; ++i) message[i] = bytes[64 * item + i];
  sums[item] = crc32(message, lengths[item]);
}

DEFINE_AES(aes128_lds, const local uchar*)

__attribute__((reqd_work_group_size(128, 1, 1))) kernel void aes128(global uchar* texts, global const uchar* key,
                                                                    global const uchar* box) {
  local uchar tile[256];
  tile[get_local_id(0)] = box[get_local_id(0)];
  tile[get_local_id(0) + 128] = box[get_local_id(0) + 128];
  barrier(CLK_LOCAL_MEM_FENCE);
  global uchar* const own = texts + 16 * get_global_id(0);
  uchar text[16], round_key[16];
  for (uint i = 0; i < 16; ++i) {
    text[i] = own[i];
    round_key[i] = key[i];
  }
  aes128_lds(text, round_key, tile);
  for (uint i = 0; i < 16; ++i) own[i] = text[i];
}
