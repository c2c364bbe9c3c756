// Integers: generators, division by variables, wide products, OpenCL's own functions, vectors of small types.
#include "integer_core.h"

kernel void generators(global const ulong* seeds, global ulong* out) {
  const uint item = get_global_id(0);
  ulong pcg = seeds[item], xorshift = seeds[item] | 1, mix = 0;
  uint counter[4] = {item, (uint)seeds[item], 3, 4};
  for (uint i = 0; i < 8; ++i) {
    mix = mix * 3 + pcg32(&pcg) + xorshift64(&xorshift);
    philox(counter, (uint)pcg, (uint)(xorshift >> 32));
    mix ^= counter[0] | (ulong)counter[3] << 32;
  }
  out[item] = mix;
}

kernel void divide(global const ulong* a, global const ulong* b, global ulong* out) {
  const uint item = get_global_id(0);
  out[item] = divisions(a[item], b[item]);
}

kernel void multiply_big(global const uint* in, global uint* out) {
  const uint item = get_global_id(0);
  uint a[32], b[32], product[64];
  for (uint i = 0; i < 32; ++i) {
    a[i] = in[64 * item + i];
    b[i] = in[64 * item + 32 + i];
  }
  big_product(a, b, product);
  for (uint i = 0; i < 64; ++i) out[64 * item + i] = product[i];
}

kernel void powers(global const ulong* in, global ulong* out) {
  const uint item = get_global_id(0);
  out[item] = power_mod(in[3 * item], in[3 * item + 1] >> 48, in[3 * item + 2] | 1);
}

#define RESULTS 32
kernel void functions(global const ulong* a, global const ulong* b, global ulong* out) {
  const uint item = get_global_id(0);
  const ulong x = a[item], y = b[item];
  const uint p = (uint)x, q = (uint)y;
  const int s = (int)p, t = (int)q;
  const short h = (short)p, k = (short)q;
  const char c = (char)p, d = (char)q;
  global ulong* const own = out + RESULTS * item;
  uint n = 0;
  own[n++] = mul_hi(x, y);
  own[n++] = (ulong)mul_hi((long)x, (long)y);
  own[n++] = mul_hi(p, q);
  own[n++] = (uint)mul_hi(s, t);
  own[n++] = add_sat(p, q);
  own[n++] = (uint)add_sat(s, t);
  own[n++] = sub_sat(x, y);
  own[n++] = (ulong)sub_sat((long)x, (long)y);
  own[n++] = (ushort)add_sat(h, k);
  own[n++] = sub_sat((uchar)c, (uchar)d);
  own[n++] = (uchar)add_sat(c, d);
  own[n++] = hadd(p, q);
  own[n++] = (uint)rhadd(s, t);
  own[n++] = abs_diff(s, t);
  own[n++] = abs_diff(x, y);
  own[n++] = clz(p);
  own[n++] = clz(x);
  own[n++] = ctz(x);
  own[n++] = popcount(x);
  own[n++] = rotate(x, y);
  own[n++] = rotate((ushort)p, (ushort)q);
  own[n++] = __builtin_bitreverse32(p);
  own[n++] = __builtin_bitreverse64(x);
  own[n++] = __builtin_bswap64(x);
  own[n++] = (uint)mul24((int)(s << 8 >> 8), (int)(t << 8 >> 8));
  own[n++] = mad24(p & 0xffffff, q & 0xffffff, p);
  own[n++] = mad_sat(p, q, p);
  own[n++] = (uint)mad_sat(s, t, s);
  own[n++] = (uint)max(min(s, t), (int)c);
  own[n++] = (ulong)clamp((long)x, -1000l, (long)(y >> 1));
  own[n++] = bitselect(x, y, x ^ (y << 3));
  own[n++] = upsample((uint)h, q) + upsample((uchar)c, (uchar)d);
}

// Bytes and halfwords in vectors: shifts, wraps, saturation, comparison masks, shuffles.
kernel void small_vectors(global const char4* a, global const char4* b, global char4* out, global short2* out_short) {
  const uint item = get_global_id(0);
  const char4 x = a[item], y = b[item];
  char4 r = x * y + (x >> (char4)(3)) - (y << (char4)(2));
  r = select(r, y.wzyx, x > y);
  r ^= add_sat(x, y) & (char4)(0x5a);
  out[2 * item] = r;
  out[2 * item + 1] = convert_char4_sat(convert_short4(x) * convert_short4(y));
  const short2 p = as_short2(x), q = as_short2(y);
  out_short[2 * item] = max(p, q) * (short2)(3) + min(p, q) - (p >> (short2)(1));
  out_short[2 * item + 1] = sub_sat(p, q) + (short)abs_diff(p.yx, q).x;
}
