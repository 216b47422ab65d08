#include <fmt/format.h>

#include "engine/tensor/program/contents.h"
#include "oracles/reference/elementwise.h"
#include "oracles/reference/evaluating.h"
#include "oracles/reference/scalar.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

// The written shape, filled with f(place).
template <typename F>
Result<Array> filled(const Evaluating& e, F f) {
  ASSAY_TRY(n, count_of(e.shape));
  ASSAY_TRY(spent, e.spend(n));
  (void)spent;
  return Array{e.define.dtype, e.shape, Elements::NullaryExpr(n, f)};
}

Result<Array> input(const Evaluating& e) {
  const DType t = e.define.dtype;
  ASSAY_TRY(n, count_of(e.shape));
  ASSAY_TRY(bits, tensor::input_bits(e.define, n));
  return filled(e, [&](int64_t i) { return from_bits(t, bits[static_cast<size_t>(i)]); });
}

Result<Array> full(const Evaluating& e) {
  ASSAY_TRY(value, e.number("value", e.define.dtype));
  return filled(e, [&](int64_t) { return value; });
}

Result<Array> iota(const Evaluating& e) {
  const At at{e.at(e.define.dtype)};
  if (e.shape.size() != 1) return Error{"iota has one axis", 0, 0};
  if (!uop::kNumbers.has(at.t)) {
    return Error{fmt::format("iota counts in numbers, not in {}", uop::to_text(at.t)), 0, 0};
  }
  ASSAY_TRY(start, e.number("start", at.t));
  ASSAY_TRY(step, e.number("step", at.t));
  return filled(e, [&](int64_t i) { return at.add(start, at.mul(of_integer(at.t, i), step)); });
}

Result<Array> undefined(const Evaluating& e) {
  return filled(e, [](int64_t) { return unspecified(); });
}

Bounded threefry_of(uint64_t counter, uint64_t key) {
  return apply(Fn::Threefry, uop::U64, from_bits(uop::U64, counter), from_bits(uop::U64, key));
}

Result<Array> threefry(const Evaluating& e) {
  return with_broadcast(e, uop::U64, [](std::span<Bounded> out, auto x) {
    apply(Fn::Threefry, uop::U64, out, x[0], x[1]);
  });
}

// n elements, the first half of them the low halves of threefry, the second its high halves.
Result<Elements> random_words(const Evaluating& e) {
  if (e.shape.empty()) {
    return Error{fmt::format("{} needs an axis, [] has none", e.row().text), 0, 0};
  }
  ASSAY_TRY(n, count_of(e.shape));
  ASSAY_TRY(spent, e.spend(n));
  (void)spent;
  const auto key = static_cast<uint64_t>(e.integer("seed"));
  const int64_t half = (n + 1) / 2;
  Elements words(2 * half);
  for (int64_t i = 0; i < half; ++i) {
    const uint64_t counter = static_cast<uint64_t>(i) | static_cast<uint64_t>(i + half) << 32U;
    const auto both = static_cast<uint64_t>(threefry_of(counter, key).integer);
    words[i] = from_bits(uop::U32, both & 0xffffffffU);
    words[half + i] = from_bits(uop::U32, both >> 32U);
  }
  words.conservativeResize(n);
  return words;
}

Result<Array> random_bits(const Evaluating& e) {
  ASSAY_TRY(words, random_words(e));
  return Array{uop::U32, e.shape, std::move(words)};
}

Result<Array> random_uniform(const Evaluating& e) {
  const DType t = e.define.dtype;
  if (!uop::is_float(t)) {
    return Error{fmt::format("random_uniform gives floats, not {}", uop::to_text(t)), 0, 0};
  }
  ASSAY_TRY(words, random_words(e));
  for (Bounded& word : words) {
    const auto bits = static_cast<double>(static_cast<uint64_t>(word.integer) >> 8U);
    word = cast(of_double(uop::F32, bits * 0x1p-24), uop::F32, t);
  }
  return Array{t, e.shape, std::move(words)};
}

constexpr EvaluateRow kSourceRows[] = {
    {Input, input},
    {Full, full},
    {Iota, iota},
    {Undefined, undefined},
    {Threefry, threefry},
    {RandomBits, random_bits},
    {RandomUniform, random_uniform},
};

}  // namespace

std::span<const EvaluateRow> source_rows() { return kSourceRows; }

}  // namespace assay::reference
