// Integer arithmetic of all widths: what C defines, with no undefined operand.
#pragma once

#include "both.h"

// One step of three generators, mixed: PCG-32, xorshift64*, Philox 4x32 with ten rounds.
CORE uint pcg32(ulong* state) {
  const ulong old = *state;
  *state = old * 6364136223846793005ul + 1442695040888963407ul;
  const uint mixed = (uint)((old >> 18 ^ old) >> 27), turn = (uint)(old >> 59);
  return mixed >> turn | mixed << (-turn & 31);
}

CORE ulong xorshift64(ulong* state) {
  ulong x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 2685821657736338717ul;
}

CORE void philox(uint* counter, uint key0, uint key1) {
  for (uint round = 0; round < 10; ++round) {
    const ulong product0 = (ulong)0xd2511f53u * counter[0], product1 = (ulong)0xcd9e8d57u * counter[2];
    const uint next[4] = {(uint)(product1 >> 32) ^ counter[1] ^ key0, (uint)product1,
                          (uint)(product0 >> 32) ^ counter[3] ^ key1, (uint)product0};
    for (uint i = 0; i < 4; ++i) counter[i] = next[i];
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
}

// Quotients and remainders of every width, mixed into a word; no division by zero, no overflow.
CORE ulong divisions(ulong a, ulong b) {
  const long s = (long)a, t = (long)b;
  ulong mix = 0;
  const ulong d64 = b | 1;
  mix = mix * 31 + a / d64;
  mix = mix * 31 + a % d64;
  const long e64 = t >> 17 | 1;
  const long n64 = s == -0x7fffffffffffffffl - 1 ? 5 : s;
  mix = mix * 31 + (ulong)(n64 / e64);
  mix = mix * 31 + (ulong)(n64 % e64);
  const uint a32 = (uint)a, d32 = (uint)b | 1;
  mix = mix * 31 + a32 / d32;
  mix = mix * 31 + a32 % d32;
  const int n32 = (int)(a32 & 0x7fffffff), e32 = (int)(b >> 40) - 0x800000 == 0 ? 3 : (int)(b >> 40) - 0x800000;
  mix = mix * 31 + (uint)(n32 / e32);
  mix = mix * 31 + (uint)(-n32 % e32);
  const short n16 = (short)(a & 0x7fff), e16 = (short)((b & 0x7ff) - 1024 == 0 ? 9 : (b & 0x7ff) - 1024);
  mix = mix * 31 + (uint)(n16 / e16 + n16 % e16);
  const uchar n8 = (uchar)(a >> 8), e8 = (uchar)(b >> 8 | 1);
  mix = mix * 31 + (uint)(n8 / e8 + n8 % e8);
  // constants
  mix = mix * 31 + a / 1000000007ul + a32 / 7 + (uint)(n32 / -13) + (uint)(n64 % 10 + 10);
  return mix;
}

// Product of two 1024-bit numbers, as 64 words of 32 bits.
CORE void big_product(const uint* a, const uint* b, uint* out) {
  for (uint i = 0; i < 64; ++i) out[i] = 0;
  for (uint i = 0; i < 32; ++i) {
    ulong carry = 0;
    for (uint j = 0; j < 32; ++j) {
      carry += (ulong)a[i] * b[j] + out[i + j];
      out[i + j] = (uint)carry;
      carry >>= 32;
    }
    out[i + 32] = (uint)carry;
  }
}

// base^exponent mod modulus, of 64 bits, by double-and-add.
CORE ulong power_mod(ulong base, ulong exponent, ulong modulus) {
  ulong result = 1 % modulus;
  base %= modulus;
  while (exponent != 0) {
    for (uint turn = 0; turn < 2; ++turn) {
      ulong factor = turn == 0 ? result : base, sum = 0;
      if (turn == 0 && (exponent & 1) == 0) continue;
      for (ulong times = base; times != 0; times >>= 1) {
        if ((times & 1) != 0) sum = sum >= modulus - factor ? sum - (modulus - factor) : sum + factor;
        factor = factor >= modulus - factor ? factor - (modulus - factor) : factor + factor;
      }
      if (turn == 0)
        result = sum;
      else
        base = sum;
    }
    exponent >>= 1;
  }
  return result;
}
