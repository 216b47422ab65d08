#include "engine/schedule/kernel_graph.h"

#include <gtest/gtest.h>

#include "engine/schedule/kernel_text.h"
#include "engine/uop/dim.h"
#include "engine/uop/shape.h"
#include "engine/uop/verify.h"

namespace assay::schedule {
namespace {

using uop::Arg;
using uop::DType;
using uop::F32;
using uop::Graph;
using uop::Op;
using uop::Shape;

class KernelGraphs : public testing::Test {
 protected:
  Ref device(std::string_view name = "sim:0") {
    return g.make(Op::Device, DType::Void, {}, g.name(name));
  }
  Ref input(std::initializer_list<int64_t> sizes, DType t = F32, std::string_view on = "sim:0") {
    std::vector<Ref> src = uop::dims(g, sizes);
    src.push_back(device(on));
    return g.make(Op::Buffer, t, src, Arg::place(next_++, uop::AddrSpace::Global));
  }
  Shape shape(std::initializer_list<int64_t> sizes) {
    return uop::intern_shape(g, uop::dims(g, sizes));
  }
  Ref f32(double x) { return g.constant(uop::of_double(F32, x)); }
  Ref reshape(Ref x, std::initializer_list<int64_t> sizes) {
    return uop::reshape(g, x, shape(sizes));
  }
  Ref expand(Ref x, std::initializer_list<int64_t> sizes) {
    return uop::expand(g, x, shape(sizes));
  }
  Ref permute(Ref x, std::vector<int64_t> order) { return uop::permute(g, x, order); }
  Ref flip(Ref x, std::vector<int64_t> axes) { return uop::flip(g, x, axes); }
  Ref pad(Ref x, std::initializer_list<int64_t> a) { return uop::pad(g, x, uop::dims(g, a)); }
  Ref shrink(Ref x, std::initializer_list<int64_t> a) { return uop::shrink(g, x, uop::dims(g, a)); }
  Ref reduce(Op op, Ref x, int32_t n) {
    return g.make(Op::Reduce, x->dtype, {x}, Arg::fold(op, n));
  }
  Ref contiguous(Ref x) { return g.make(Op::Contiguous, x->dtype, {x}); }
  Ref write(Ref state, Ref view, Ref value) {
    const Ref store = g.make(Op::Store, DType::Void, {view, value});
    return g.make(Op::After, state->dtype, {state, store});
  }
  // A new buffer that holds the value.
  Ref out(Ref value) {
    std::vector<Ref> src(uop::shape(g, value).begin(), uop::shape(g, value).end());
    src.push_back(device());
    const Ref b =
        g.make(Op::Buffer, value->dtype, src, Arg::place(next_++, uop::AddrSpace::Global));
    return write(b, b, value);
  }
  std::string kernels(std::initializer_list<Ref> states) {
    const Ref sink = g.make(Op::Sink, DType::Void, states, g.info("", {}));
    uop::Run run(g);
    const Result<Ref> graph = get_kernel_graph(run, sink, uop::generic_target());
    if (!graph.ok()) return "error: " + graph.error().message;
    EXPECT_EQ(uop::verify(g, graph.value()), std::nullopt);
    return KernelText::of(g, graph.value());
  }

  Graph g;
  int32_t next_ = 0;
};

TEST_F(KernelGraphs, ElementwiseIsOneKernel) {
  const Ref a = input({4, 6});
  const Ref b = input({4, 6});
  const Ref sum = g.alu(Op::Add, {a, b});
  EXPECT_EQ(kernels({out(sum)}),
            "E_4_6  p0[(add (mul r0 6) r1)] = (add p1[(add (mul r0 6) r1)] "
            "p2[(add (mul r0 6) r1)])  <- b2, b0, b1\n");
}

TEST_F(KernelGraphs, SoftmaxIsThree) {
  const Ref x = input({64, 128});
  const Ref m = reduce(Op::Max, permute(x, {1, 0}), 1);
  const Ref e = g.alu(Op::Exp, {g.alu(Op::Sub, {x, reshape(m, {64, 1})})});
  const Ref s = reduce(Op::Add, permute(e, {1, 0}), 1);
  EXPECT_EQ(
      kernels({out(g.alu(Op::FDiv, {e, reshape(s, {64, 1})}))}),
      "r_64_128  p0[r0] = (reduce_max p1[(add (mul r0 128) r1)] r1)  <- b2, b0\n"
      "r_64_128  p0[r0] = (reduce_add (exp (sub p1[(add (mul r0 128) r1)] p2[r0])) r1)  <- b3, "
      "b0, b2'\n"
      "E_64_128  p0[(add (mul r0 128) r1)] = (fdiv (exp (sub p1[(add (mul r0 128) r1)] p2[r0])) "
      "p3[r0])  <- b1, b0, b2', b3'\n");
}

}  // namespace
}  // namespace assay::schedule
