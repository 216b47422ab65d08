// The judge of the passes tells wrong kernels from right ones.
#include "engine/codegen/kernel_run.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "engine/codegen/kernel_sample.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

class RunsKernels : public testing::Test {
 protected:
  Ref special(const char* name, int64_t size) {
    return g_.make(Op::Special, uop::Index, {make_.number(size)}, g_.name(name));
  }
  Ref buffer(uop::AddrSpace space, int64_t size) {
    return g_.make(Op::Buffer, DType::I32, {make_.number(size)}, uop::Arg::place(0, space));
  }
  Ref effect(Ref place, Ref value) { return g_.make(Op::Store, DType::Void, {place, value}); }
  Ref out(Ref i) { return make_.at(make_.param(0, DType::I32, 4), {i}); }
  void run(Ref kernel) { KernelRun(g_, {{0, counting(DType::I32, 4)}}).run(kernel); }

  uop::Graph g_;
  Maker make_{g_};
};

TEST_F(RunsKernels, SeesAnElementThatTwoItemsStore) {
  const Ref item = special("lidx0", 2);
  const Ref value = g_.make(Op::Cast, DType::I32, {item});
  const Ref kernel = make_.sink({effect(out(make_.number(1)), value)});
  EXPECT_NONFATAL_FAILURE(run(kernel), "element 1 is stored again");
}

TEST_F(RunsKernels, SeesAnIndexOutOfBounds) {
  const Ref item = special("lidx0", 5);
  const Ref kernel = make_.sink({effect(out(item), g_.constant(DType::I32, 1))});
  EXPECT_NONFATAL_FAILURE(run(kernel), "index 4 of an axis of 4");
}

// What one item stored is not what another reads, unless an AFTER waits for all.
TEST_F(RunsKernels, SeesAReadOfWhatNobodyStored) {
  const Ref item = special("lidx0", 4);
  const Ref local = buffer(uop::AddrSpace::Local, 4);
  const Ref one = g_.constant(DType::I32, 1);
  const Ref stored = effect(make_.at(local, {item}), one);
  const Ref last = g_.alu(Op::Sub, {make_.number(3), item});
  const Ref waits = g_.make(Op::After, DType::I32, {local, stored});
  run(make_.sink({effect(out(item), make_.at(waits, {last}))}));
  const Ref kernel = make_.sink({effect(out(item), make_.at(local, {last}))});
  testing::TestPartResultArray seen;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &seen);
    run(kernel);
  }
  ASSERT_GT(seen.size(), 0);
  EXPECT_NE(std::string(seen.GetTestPartResult(0).message()).find("read before it is stored"),
            std::string::npos);
}

// An accumulator that is not begun anew in its loop holds what the iteration before left.
TEST_F(RunsKernels, BeginsAnEffectAnewForTheRangesItStandsIn) {
  const Ref i = make_.range(AxisType::Loop, 4);
  const Ref r = make_.range(AxisType::Reduce, 2);
  const Ref acc = buffer(uop::AddrSpace::Reg, 1);
  const Ref zero = g_.constant(DType::I32, 0);
  const auto sums = [&](Ref fresh) {
    const Ref start = effect(fresh, zero);
    const Ref in = g_.make(Op::After, DType::I32, {acc, start, i, r});
    const Ref x = g_.make(Op::Cast, DType::I32, {i});
    const Ref step = effect(in, make_.add(in, x));
    const Ref end = g_.make(Op::End, DType::Void, {step, r});
    const Ref all = g_.make(Op::After, DType::I32, {acc, end});
    const Ref first = g_.make(Op::Index, DType::I32, {all, make_.number(0)});
    const Ref kernel = make_.sink({make_.stored(out(i), first, {i})});
    return KernelRun(g_, {{0, counting(DType::I32, 4)}}).run(kernel);
  };
  const auto numbers = [](std::initializer_list<int> n) {
    std::vector<uop::Value> v;
    for (const int x : n) v.push_back(uop::of_int(DType::I32, x));
    return v;
  };
  EXPECT_EQ(sums(g_.make(Op::After, DType::I32, {acc, i})), numbers({0, 2, 4, 6}));
  EXPECT_EQ(sums(acc), numbers({0, 2, 6, 12}));
}

}  // namespace
}  // namespace assay::codegen
