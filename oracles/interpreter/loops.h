#pragma once

#include "oracles/interpreter/scalar.h"

// Loops over runs of one, two and three operands, of functions that are template arguments.
namespace assay::interpreter {

template <typename F>
void each(Slot* out, Operand a, int64_t n, F f) {
  if (a.stride == 1) {
    for (int64_t i = 0; i < n; i++) out[i] = f(a.data[i]);
    return;
  }
  for (int64_t i = 0; i < n; i++) out[i] = f(a.data[i * a.stride]);
}

template <typename F>
void each(Slot* out, Operand a, Operand b, int64_t n, F f) {
  if (a.stride == 1 && b.stride == 1) {
    for (int64_t i = 0; i < n; i++) out[i] = f(a.data[i], b.data[i]);
    return;
  }
  if (a.stride == 1 && b.stride == 0) {
    const Slot y = *b.data;
    for (int64_t i = 0; i < n; i++) out[i] = f(a.data[i], y);
    return;
  }
  for (int64_t i = 0; i < n; i++) out[i] = f(a.data[i * a.stride], b.data[i * b.stride]);
}

template <typename F>
void each(Slot* out, Operand a, Operand b, Operand c, int64_t n, F f) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = f(a.data[i * a.stride], b.data[i * b.stride], c.data[i * c.stride]);
  }
}

// Of integers and bool: F takes int64_t where S, else uint64_t, and its result is wrapped.
template <bool S>
auto as_int(Slot s) {
  if constexpr (S) {
    return static_cast<int64_t>(s);
  } else {
    return s;
  }
}
template <bool S, typename X>
Slot cut(X x, int unused) {
  const Slot high = static_cast<Slot>(x) << unused;
  return S ? static_cast<Slot>(static_cast<int64_t>(high) >> unused) : high >> unused;
}

template <bool S, auto F>
void int1(Slot* out, const Operand* src, int64_t n, Types types) {
  const int unused = 64 - uop::bits_of(types.result);
  each(out, src[0], n, [=](Slot a) { return cut<S>(F(as_int<S>(a)), unused); });
}
template <bool S, auto F>
void int2(Slot* out, const Operand* src, int64_t n, Types types) {
  const int unused = 64 - uop::bits_of(types.result);
  each(out, src[0], src[1], n,
       [=](Slot a, Slot b) { return cut<S>(F(as_int<S>(a), as_int<S>(b)), unused); });
}
template <bool S, auto F>
void int3(Slot* out, const Operand* src, int64_t n, Types types) {
  const int unused = 64 - uop::bits_of(types.result);
  each(out, src[0], src[1], src[2], n, [=](Slot a, Slot b, Slot c) {
    return cut<S>(F(as_int<S>(a), as_int<S>(b), as_int<S>(c)), unused);
  });
}
// The same where the second operand is a number of bits, which is below the width.
template <bool S, auto F>
void shift2(Slot* out, const Operand* src, int64_t n, Types types) {
  const int bits = uop::bits_of(types.result);
  const int unused = 64 - bits;
  each(out, src[0], src[1], n, [=](Slot a, Slot by) {
    return cut<S>(by < Slot(bits) ? F(as_int<S>(a), by) : poison_now.bits, unused);
  });
}

template <bool S, auto F>
void int_compare(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], src[1], n, [](Slot a, Slot b) { return Slot{F(as_int<S>(a), as_int<S>(b))}; });
}
template <auto F>
void float_compare(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], src[1], n, [](Slot a, Slot b) { return Slot{F(number(a), number(b))}; });
}

// Of floats, in double.
template <auto F>
void float1(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return slot(F(number(a))); });
}
template <auto F>
void float2(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], src[1], n, [](Slot a, Slot b) { return slot(F(number(a), number(b))); });
}
template <auto F>
void float3(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], src[1], src[2], n,
       [](Slot a, Slot b, Slot c) { return slot(F(number(a), number(b), number(c))); });
}

}  // namespace assay::interpreter
