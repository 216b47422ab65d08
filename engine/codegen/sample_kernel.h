#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::codegen {

// Kernels by hand, for tests: nodes of the gated form, with i32 indices.
struct SampleKernel {
  using Ref = uop::Ref;
  using Op = uop::Op;
  using DType = uop::DType;
  using AxisType = uop::AxisType;

  uop::Graph g;

  Ref i32(int64_t n) { return g.constant(DType::I32, n); }
  Ref f32(double x) { return g.constant(uop::of_double(DType::F32, x)); }
  Ref param(int slot, int64_t size, DType t = DType::F32) {
    return g.make(Op::Param, t, {i32(size)}, uop::Arg::number(slot));
  }
  Ref local(int number, int64_t size, DType t = DType::F32) {
    return g.make(Op::Buffer, t, {i32(size)}, uop::Arg::place(number, uop::AddrSpace::Local));
  }
  Ref reg(int number, int64_t size, DType t = DType::F32) {
    return g.make(Op::Buffer, t, {i32(size)}, uop::Arg::place(number, uop::AddrSpace::Reg));
  }
  Ref range(int number, Ref count, AxisType type = AxisType::Reduce) {
    return g.make(Op::Range, count->dtype, {count}, uop::Arg::axis(number, type));
  }
  Ref range(int number, int64_t count, AxisType type = AxisType::Reduce) {
    return range(number, i32(count), type);
  }
  Ref special(std::string_view name, int64_t count) {
    return g.make(Op::Special, DType::I32, {i32(count)}, g.name(name));
  }
  Ref variable(std::string_view name, int64_t lo, int64_t hi) {
    return g.variable(name, uop::of_int(DType::I32, lo), uop::of_int(DType::I32, hi));
  }

  Ref index(Ref b, Ref i) { return g.make(Op::Index, b->dtype, {b, i}); }
  Ref run(Ref b, Ref i, int64_t n) { return g.make(Op::Shrink, b->dtype, {b, i, i32(n)}); }
  Ref load(Ref place) { return g.make(Op::Load, place->dtype, {place}); }
  Ref load(Ref place, Ref other, Ref gate) {
    return g.make(Op::Load, place->dtype, {place, other, gate});
  }
  Ref load(Ref b, int64_t i) { return load(index(b, i32(i))); }
  Ref store(Ref place, Ref x) { return g.make(Op::Store, DType::Void, {place, x}); }
  Ref store(Ref place, Ref x, Ref gate) { return g.make(Op::Store, DType::Void, {place, x, gate}); }
  Ref after(Ref x, std::vector<Ref> waits) {
    waits.insert(waits.begin(), x);
    return g.make(Op::After, x->dtype, waits);
  }
  Ref end(Ref x, std::vector<Ref> ranges) {
    ranges.insert(ranges.begin(), x);
    return g.make(Op::End, x->dtype, ranges);
  }
  Ref barrier(const std::vector<Ref>& waits) { return g.make(Op::Barrier, DType::Void, waits); }
  Ref group(const std::vector<Ref>& effects) { return g.make(Op::Group, DType::Void, effects); }
  Ref sink(const std::vector<Ref>& effects, std::string_view name = "k") {
    return g.make(Op::Sink, DType::Void, effects, g.info(name, {}));
  }
  Ref alu(Op op, std::initializer_list<Ref> src) { return g.alu(op, src); }
  Ref add(Ref a, Ref b) { return alu(Op::Add, {a, b}); }
  Ref mul(Ref a, Ref b) { return alu(Op::Mul, {a, b}); }
  Ref lt(Ref a, Ref b) { return alu(Op::Lt, {a, b}); }
  Ref is_zero(Ref x) { return alu(Op::Eq, {x, g.constant(x->dtype, 0)}); }

  // The sum of `x` over ranges, in register `number`, standing in `outer`: the state that holds it.
  Ref sum(int number, Ref x, const std::vector<Ref>& ranges, const std::vector<Ref>& outer = {}) {
    const Ref acc = reg(number, 1, x->dtype);
    const Ref in_outer = outer.empty() ? acc : after(acc, outer);
    const Ref start = store(index(in_outer, i32(0)), g.constant(x->dtype, 0));
    std::vector<Ref> waits = {start};
    waits.insert(waits.end(), ranges.begin(), ranges.end());
    const Ref in = after(acc, waits);
    const Ref so_far = load(in, 0);
    const Ref step = store(index(in, i32(0)), add(so_far, x));
    return after(acc, {end(step, ranges)});
  }
};

}  // namespace assay::codegen
