#include <fmt/format.h>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"
#include "engine/tensor/nodes.h"

namespace assay::tensor {
namespace {

Result<Ref> input(const Building& b) {
  return Error{fmt::format("{} is storage, which no term makes", b.define.name)};
}

Result<Ref> full_of(const Building& b) {
  ASSAY_TRY(constant, b.constant("value", b.dtype()));
  return expand({&b.g, constant}, written_shape(b)).u;
}

// What may be anything may be zero.
Result<Ref> undefined(const Building& b) {
  const Term zero = {&b.g, b.g.constant(uop::zero_of(b.dtype()))};
  return expand(zero, written_shape(b)).u;
}

Result<Ref> iota_of(const Building& b) {
  if (b.define.shape.size() != 1) {
    return Error{fmt::format("iota has one axis; the written shape has {}", b.define.shape.size())};
  }
  ASSAY_TRY(start, b.constant("start", b.dtype()));
  ASSAY_TRY(step, b.constant("step", b.dtype()));
  const Term i = positions({&b.g, b.dim(b.define.shape[0])}, 0, 1, b.dtype());
  return (Term{&b.g, start} + i * Term{&b.g, step}).u;
}

// Numbers 0 … n - 1 make as many bits, the first half of them the low halves of what the generator
// gives.
Result<Term> random_bits(const Building& b) {
  const Dims dims = written_shape(b);
  if (dims.empty()) return Error{fmt::format("{} has rank 1 or more", b.row().text)};
  const Dim n = {&b.g, uop::size_of(b.g, dims)};
  const Dim half = (n + 1) / 2;
  const Term low = positions(half, 1, 2, uop::U64);
  const Term high = cast(low + cast({&b.g, half.u}, uop::U64), uop::U64);
  const Term counter = either(low, call(Fn::Shl, high, number(low, 32)));
  const Term key = value(low, {uop::U64, static_cast<uint64_t>(b.integer("seed"))});
  const Term drawn = call(Fn::Threefry, counter, key);
  const Term shift = positions(half.of(2), 0, 2, uop::U64) * number(low, 32);
  const Term halves = cast(call(Fn::Shr, drawn, shift), uop::U32);
  return reshape(shrink(join_axes(halves, 0, 2), 0, n.of(0), n), dims);
}

Result<Ref> random_bits_of(const Building& b) {
  ASSAY_TRY(bits, random_bits(b));
  return bits.u;
}

Result<Ref> random_uniform(const Building& b) {
  ASSAY_TRY(bits, random_bits(b));
  const Term upper = cast(call(Fn::Shr, bits, number(bits, 8)), uop::F32);
  return cast(upper * 0x1p-24, b.dtype()).u;
}

Result<Ref> threefry(const Building& b) {
  return call(Fn::Threefry, operand(b, 0), operand(b, 1)).u;
}

Result<Ref> contiguous(const Building& b) {
  return b.g.make(Fn::Contiguous, b.x()->dtype, {b.x()});
}

Result<Ref> copy(const Building& b) { return b.x(); }

constexpr BuildRow kSourcesRows[] = {
    {Op::Input, input},
    {Op::Full, full_of},
    {Op::Iota, iota_of},
    {Op::Undefined, undefined},
    {Op::Threefry, threefry},
    {Op::RandomBits, random_bits_of},
    {Op::RandomUniform, random_uniform},
    {Op::Contiguous, contiguous},
    {Op::Clone, contiguous},
    {Op::Copy, copy},
};

}  // namespace

std::span<const BuildRow> source_builds() { return kSourcesRows; }

}  // namespace assay::tensor
