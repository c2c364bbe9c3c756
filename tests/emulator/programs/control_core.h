// Programs of branches, loops, calls and private arrays.
#pragma once

#include "both.h"

// A stack machine. Codes: 0 end, 1 push next, 2 add, 3 multiply, 4 swap, 5 duplicate, 6 jump back if top is not 0,
// 7 load slot, 8 store slot, 9 subtract, others push the code.
CORE int interpret(const uchar* code, int argument) {
  int stack[16], slots[8];
  for (int i = 0; i < 8; ++i) slots[i] = i == 0 ? argument : 0;
  int depth = 0, at = 0;
  stack[0] = 0;
  for (int steps = 0; steps < 500; ++steps) {
    const int word = code[at++];
    const int a = depth > 0 ? stack[depth - 1] : 0, b = depth > 1 ? stack[depth - 2] : 0;
    switch (word) {
      case 0:
        return a;
      case 1:
        stack[depth++] = code[at++];
        break;
      case 2:
        stack[--depth - 1] = (int)((uint)a + (uint)b);
        break;
      case 3:
        stack[--depth - 1] = (int)((uint)a * (uint)b);
        break;
      case 4:
        stack[depth - 1] = b;
        stack[depth - 2] = a;
        break;
      case 5:
        stack[depth++] = a;
        break;
      case 6:
        --depth;
        if (a == 0) {
          ++at;
          break;
        }
        at -= code[at];
        continue;
      case 7:
        stack[depth++] = slots[code[at++]];
        break;
      case 8:
        slots[code[at++]] = a;
        --depth;
        break;
      case 9:
        stack[--depth - 1] = (int)((uint)b - (uint)a);
        break;
      default:
        stack[depth++] = word;
    }
  }
  return -1;
}

// Ways to place `n` queens with the first in column `first`, without recursion.
CORE uint queens(int n, int first) {
  int columns[12];
  uint found = 0;
  int row = 1;
  columns[0] = first;
  columns[1] = -1;
  while (row > 0) {
    int column = columns[row] + 1;
    for (; column < n; ++column) {
      int free = 1;
      for (int above = 0; above < row; ++above) {
        const int there = columns[above];
        if (there == column || there - column == row - above || column - there == row - above) {
          free = 0;
          break;
        }
      }
      if (free) break;
    }
    if (column == n) {
      --row;
      continue;
    }
    columns[row] = column;
    if (row == n - 1) {
      ++found;
      continue;
    }
    columns[++row] = -1;
  }
  return found;
}

// Steps of 3n + 1 with an early way out of two loops.
CORE uint collatz(uint start) {
  uint total = 0;
  for (uint n = start; n < start + 5; ++n) {
    ulong value = n;
    for (uint step = 0;; ++step) {
      if (value == 1) break;
      if (step > 110) goto too_long;
      value = value % 2 == 0 ? value / 2 : 3 * value + 1;
      total += step & 3;
    }
    if (total % 7 == 6) continue;
    total *= 3;
  }
  return total;
too_long:
  return total + 1000000;
}

CORE uint mandelbrot(float x, float y, uint limit) {
  float a = 0, b = 0;
  uint step = 0;
  for (; step < limit && a * a + b * b <= 4.0f; ++step) {
    const float next = a * a - b * b + x;
    b = 2.0f * a * b + y;
    a = next;
  }
  return step;
}

struct Record {
  long weight;
  double share;
  int parts[7];
  short kind;
  char tag;
};

CORE_CALL struct Record blended(struct Record a, const struct Record* b, int turn) {
  struct Record out = a;
  out.weight = a.weight * 3 + b->weight;
  out.share = a.share * 0.5 + b->share;
  for (int i = 0; i < 7; ++i) out.parts[i] = a.parts[(i + turn) % 7] ^ b->parts[6 - i];
  out.kind = (short)(a.kind - b->kind);
  out.tag = (char)(a.tag + 1);
  return out;
}

// Calls with records by value and by address, in a loop, over a large private array.
CORE_CALL ulong records(uint seed) {
  struct Record all[20];
  for (int i = 0; i < 20; ++i) {
    all[i].weight = (long)seed * i;
    all[i].share = seed * 0.25 + i;
    for (int k = 0; k < 7; ++k) all[i].parts[k] = (int)(seed >> k) + i;
    all[i].kind = (short)(seed + i);
    all[i].tag = (char)i;
  }
  for (int i = 0; i < 40; ++i) {
    const uint from = (seed + i * 7) % 20, to = (seed * 3 + i) % 20;
    all[to] = blended(all[from], &all[(from + to) % 20], i);
  }
  ulong mix = 0;
  for (int i = 0; i < 20; ++i) {
    mix = mix * 31 + (ulong)all[i].weight + (ulong)(all[i].share * 16.0) + (uint)all[i].parts[i % 7];
    mix = mix * 31 + (ushort)all[i].kind + (uchar)all[i].tag;
  }
  return mix;
}
