#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/shape.h"
#include "engine/uop/value.h"

namespace assay::schedule {

using uop::Ref;

// Tensor graphs in few words, for tests.
class SampleTensors {
 public:
  using DType = uop::DType;
  using Graph = uop::Graph;
  using Op = uop::Op;
  using Shape = uop::Shape;
  using Sizes = std::vector<Ref>;

  Sizes sizes(std::initializer_list<int64_t> list) { return uop::dims(g, list); }
  Ref device(std::string_view name = "sim:0") {
    return g.make(Op::Device, DType::Void, {}, g.name(name));
  }
  // Storage that holds some numbers.
  Ref input(Sizes shape, DType t = DType::F32, std::string_view on = "sim:0") {
    shape.push_back(device(on));
    const Ref b = g.make(Op::Buffer, t, shape, uop::Arg::place(next_++, uop::AddrSpace::Global));
    inputs.push_back(b);
    return b;
  }
  Ref input(std::initializer_list<int64_t> shape, DType t = DType::F32) {
    return input(sizes(shape), t);
  }
  Ref number(double x, DType t = DType::F32) {
    return g.constant(uop::is_float(t) ? uop::of_double(t, x) : uop::of_int(t, int64_t(x)));
  }
  Ref variable(std::string_view name, int64_t lo, int64_t hi, int64_t value) {
    variables.emplace(name, value);
    return g.variable(name, uop::of_int(DType::Index, lo), uop::of_int(DType::Index, hi));
  }
  Ref add(Ref a, Ref b) { return g.alu(Op::Add, {a, b}); }
  Ref mul(Ref a, Ref b) { return g.alu(Op::Mul, {a, b}); }
  Ref sub(Ref a, Ref b) { return g.alu(Op::Sub, {a, b}); }
  Ref exp(Ref a) { return g.alu(Op::Exp, {a}); }
  Ref reshape(Ref x, const Sizes& s) { return uop::reshape(g, x, s); }
  Ref reshape(Ref x, std::initializer_list<int64_t> s) { return uop::reshape(g, x, sizes(s)); }
  Ref expand(Ref x, std::initializer_list<int64_t> s) { return uop::expand(g, x, sizes(s)); }
  Ref permute(Ref x, const std::vector<int64_t>& order) { return uop::permute(g, x, order); }
  Ref flip(Ref x, const std::vector<int64_t>& axes) { return uop::flip(g, x, axes); }
  Ref pad(Ref x, std::initializer_list<int64_t> a) { return uop::pad(g, x, sizes(a)); }
  Ref shrink(Ref x, std::initializer_list<int64_t> a) { return uop::shrink(g, x, sizes(a)); }
  Ref cast(Ref x, DType t) { return g.make(Op::Cast, t, {x}); }
  Ref bitcast(Ref x, DType t) { return g.make(Op::Bitcast, t, {x}); }
  Ref reduce(Op op, Ref x, int32_t axes) {
    return g.make(Op::Reduce, x->dtype, {x}, uop::Arg::fold(op, axes));
  }
  Ref contiguous(Ref x) { return g.make(Op::Contiguous, x->dtype, {x}); }
  Ref copy(Ref x, std::string_view to) { return g.make(Op::Copy, x->dtype, {x, device(to)}); }
  Ref stack(std::initializer_list<Ref> x) { return g.make(Op::Stack, (*x.begin())->dtype, x); }
  Ref iota(int64_t n, DType t) {
    const Ref r =
        g.make(Op::Range, DType::Index, {uop::dim(g, n)}, uop::Arg::axis(0, uop::AxisType::Weak));
    return g.make(Op::Stage, t, {cast(r, t), r}, uop::Arg::place(0, uop::AddrSpace::Global));
  }
  Ref write(Ref state, Ref view, Ref value) {
    const Ref store = g.make(Op::Store, DType::Void, {view, value});
    return g.make(Op::After, state->dtype, {state, store});
  }
  // A new buffer that holds the value.
  Ref out(Ref value, std::string_view on = "sim:0") {
    Sizes shape(uop::shape(g, value).begin(), uop::shape(g, value).end());
    shape.push_back(device(on));
    const Ref b =
        g.make(Op::Buffer, value->dtype, shape, uop::Arg::place(next_++, uop::AddrSpace::Global));
    return write(b, b, value);
  }
  Ref sink(const std::vector<Ref>& states) {
    return g.make(Op::Sink, DType::Void, states, g.info("", {}));
  }

  Graph g;
  std::vector<Ref> inputs;
  std::map<std::string, int64_t, std::less<>> variables;

 private:
  int32_t next_ = 0;
};

}  // namespace assay::schedule
