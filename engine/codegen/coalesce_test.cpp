#include "engine/codegen/coalesce.h"

#include <gtest/gtest.h>

#include "engine/codegen/short_text.h"

namespace assay::codegen {
namespace {

// One LOAD or STORE of a kernel: of what, where. An index is `base` and a constant; gates are
// "r0 < n", 0 for none.
struct Lane {
  int offset;
  int below = 0;
};

// The kernel p0[i0], p0[i1], … = *p1[j0], *p1[j1], … in a loop r0 of 8, indices over r0 * stride.
struct Copy {
  std::vector<Lane> to;
  std::vector<Lane> from;
  int stride = 16;
  uop::DType type = uop::F32;
  uop::Op storage = uop::Op::Param;  // of what is read
  uop::AddrSpace space = uop::AddrSpace::Local;

  uop::Ref place(uop::Graph& g, uop::Ref state, uop::Ref r, Lane lane) const {
    const uop::Ref base = g.alu(uop::Op::Mul, {r, g.constant(uop::Index, stride)});
    const uop::Ref offset = g.constant(uop::Index, lane.offset);
    uop::Ref at = lane.offset == 0 ? base : g.alu(uop::Op::Add, {base, offset});
    if (lane.below != 0) {
      const uop::Ref gate = g.alu(uop::Op::Lt, {r, g.constant(uop::Index, lane.below)});
      const uop::Ref nothing = g.make(uop::Op::Invalid, uop::Index, {});
      at = g.make(uop::Op::Where, uop::Index, {gate, at, nothing});
    }
    return g.make(uop::Op::Index, type, {state, at});
  }

  std::string after(bool aligned) const {
    uop::Graph g;
    const uop::Ref size = g.constant(uop::Index, 256);
    const uop::Ref r = g.make(uop::Op::Range, uop::Index, {g.constant(uop::Index, 8)},
                              uop::Arg::axis(0, uop::AxisType::Loop));
    const uop::Ref p0 = g.make(uop::Op::Param, type, {size}, uop::Arg::number(0));
    const uop::Arg which =
        storage == uop::Op::Param ? uop::Arg::number(1) : uop::Arg::place(1, space);
    const uop::Ref p1 = g.make(storage, type, {size}, which);
    std::vector<uop::Ref> stores;
    for (size_t i = 0; i < to.size(); ++i) {
      const uop::Ref x = g.make(uop::Op::Load, type, {place(g, p1, r, from[i])});
      const uop::Ref at = place(g, p0, r, to[i]);
      stores.push_back(g.make(uop::Op::Store, uop::Void, {at, x}));
    }
    const uop::Ref group = g.make(uop::Op::Group, uop::Void, stores);
    const uop::Ref end = g.make(uop::Op::End, uop::Void, {group, r});
    const uop::Ref sink = g.make(uop::Op::Sink, uop::Void, {end}, g.info("k", {}));
    uop::Target target = uop::generic_target();
    target.aligned_vectors = aligned;
    return after_pass(coalesce(), to_text(g, sink, "scalar"), target);
  }
};

std::vector<Lane> lanes(int first, int count, int below = 0) {
  std::vector<Lane> all;
  all.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) all.push_back({first + i, below});
  return all;
}

// How wide the loads and stores of so many lanes become, from such an offset on.
std::string widths(int first, int count, bool aligned, int stride = 16) {
  const std::string text = Copy{lanes(first, count), lanes(first, count), stride}.after(aligned);
  std::string all;
  for (size_t at = text.find("p0"); at != std::string::npos; at = text.find("p0", at + 1)) {
    const size_t end = text.find("] =", at);
    const size_t colon = text.rfind(':', end);
    const bool is_wide = colon != std::string::npos && colon > at;
    all += (all.empty() ? "" : " ") + (is_wide ? text.substr(colon + 1, end - colon - 1) : "1");
  }
  return all;
}

TEST(Coalesce, ReadsAndWritesSideBySideAreOne) {
  EXPECT_EQ((Copy{lanes(0, 2), lanes(4, 2)}.after(true)),
            "p0[(* r0 16):2] = [*p1[(+ (* r0 16) 4):2][0], *p1[(+ (* r0 16) 4):2][1]] for r0");
}

TEST(Coalesce, TheWidestThatFitsComesFirst) {
  EXPECT_EQ(widths(0, 1, false), "1");
  EXPECT_EQ(widths(0, 3, false), "3");
  EXPECT_EQ(widths(0, 5, false), "4 1");
  EXPECT_EQ(widths(0, 7, false), "4 3");
  EXPECT_EQ(widths(1, 8, false), "8");
  EXPECT_EQ(widths(0, 15, false), "8 4 3");
  EXPECT_EQ(widths(0, 16, false), "16");
}

TEST(Coalesce, AnAlignedTargetHasVectorsAtTheirMultiplesOnly) {
  EXPECT_EQ(widths(0, 3, true), "2 1");
  EXPECT_EQ(widths(1, 8, true), "1 2 4 1");
  EXPECT_EQ(widths(0, 16, true), "16");
  EXPECT_EQ(widths(0, 16, true, 4), "4 4 4 4");
  EXPECT_EQ(widths(0, 4, true, 6), "2 2");
  EXPECT_EQ(widths(0, 4, true, 5), "1 1 1 1");
}

// Lanes of a masked tail: what all share is the vector's gate, and no vector is across two.
TEST(Coalesce, AVectorHasTheGateOfEachOfItsLanes) {
  EXPECT_EQ((Copy{lanes(0, 2, 5), lanes(0, 2, 5)}.after(true)),
            "p0[(where (< r0 5) (* r0 16) -):2] = [*p1[(where (< r0 5) (* r0 16) -):2][0], "
            "*p1[(where (< r0 5) (* r0 16) -):2][1]] for r0");
  EXPECT_EQ((Copy{{{0, 5}, {1, 5}, {2, 6}, {3, 0}}, lanes(0, 4)}.after(true)),
            "{p0[(where (< r0 5) (* r0 16) -):2] = [*p1[(* r0 16):4][0], *p1[(* r0 16):4][1]]; "
            "p0[(where (< r0 6) (+ (* r0 16) 2) -)] = *p1[(* r0 16):4][2]; "
            "p0[(+ (* r0 16) 3)] = *p1[(* r0 16):4][3]} for r0");
}

// A vector of the right lanes in another order is not the vector.
TEST(Coalesce, LanesKeepTheirOrder) {
  EXPECT_EQ((Copy{lanes(0, 2), {{1}, {0}}}.after(true)),
            "p0[(* r0 16):2] = [*p1[(* r0 16):2][1], *p1[(* r0 16):2][0]] for r0");
  EXPECT_EQ((Copy{{{1}, {0}}, lanes(0, 2)}.after(true)),
            "p0[(* r0 16):2] = [*p1[(* r0 16):2][1], *p1[(* r0 16):2][0]] for r0");
}

TEST(Coalesce, OneElementReadTwiceIsReadOnce) {
  EXPECT_EQ((Copy{lanes(0, 2), {{3}, {3}}}.after(true)),
            "p0[(* r0 16):2] = [*p1[(+ (* r0 16) 3)], *p1[(+ (* r0 16) 3)]] for r0");
}

TEST(Coalesce, StoresToOneElementStayAsTheyAre) {
  EXPECT_EQ((Copy{{{0}, {1}, {1}, {2}}, {{0}, {4}, {8}, {12}}}.after(true)),
            "{p0[(* r0 16)] = *p1[(* r0 16)]; "
            "p0[(+ (* r0 16) 1)] = *p1[(+ (* r0 16) 4)]; "
            "p0[(+ (* r0 16) 1)] = *p1[(+ (* r0 16) 8)]; "
            "p0[(+ (* r0 16) 2)] = *p1[(+ (* r0 16) 12)]} for r0");
}

TEST(Coalesce, LocalStorageIsReadWhereItIsAligned) {
  const Copy two = {lanes(0, 2), lanes(0, 2), 16, uop::F32, uop::Op::Buffer};
  EXPECT_EQ(two.after(false),
            "p0[(* r0 16):2] = [*local1[(* r0 16):2][0], *local1[(* r0 16):2][1]] for r0");
  const Copy odd = {lanes(0, 2), lanes(1, 2), 16, uop::F32, uop::Op::Buffer};
  EXPECT_EQ(odd.after(false),
            "p0[(* r0 16):2] = [*local1[(+ (* r0 16) 1)], *local1[(+ (* r0 16) 2)]] for r0");
}

TEST(Coalesce, RegistersAreNoMemory) {
  const Copy copy = {lanes(0, 2), lanes(0, 2), 16, uop::F32, uop::Op::Buffer, uop::AddrSpace::Reg};
  EXPECT_EQ(copy.after(false),
            "p0[(* r0 16):2] = [*reg1[(* r0 16)], *reg1[(+ (* r0 16) 1)]] for r0");
}

TEST(Coalesce, ATypeWithoutVectorsHasNone) {
  EXPECT_EQ((Copy{lanes(0, 2), lanes(0, 2), 16, uop::Bool}.after(false)),
            "{p0[(* r0 16)] = *p1[(* r0 16)]; "
            "p0[(+ (* r0 16) 1)] = *p1[(+ (* r0 16) 1)]} for r0");
}

// Two places of one buffer before and after a store are not side by side in time.
TEST(Coalesce, ReadsOfTwoStatesStayApart) {
  EXPECT_EQ(after_pass(coalesce(), R"(uop 1 scalar
%0 = const index 8
%1 = buffer i32 %0 {0 local}
%2 = param i32 %0 {0}
%3 = const index 0
%4 = const index 1
%5 = const index 4
%6 = index i32 %1 %3
%7 = load i32 %6
%8 = index i32 %1 %5
%9 = store void %8 %7
%10 = after i32 %1 %9
%11 = index i32 %10 %4
%12 = load i32 %11
%13 = index i32 %2 %3
%14 = store void %13 %12
%15 = sink void %14 {"k"}
)"),
            "p0[0] = *local0@(local0[4] = *local0[0])[1]");
}

// One of the stores is waited for by itself: it keeps its name.
TEST(Coalesce, AStoreThatOthersWaitForStays) {
  EXPECT_EQ(after_pass(coalesce(), R"(uop 1 scalar
%0 = const index 8
%1 = param i32 %0 {0}
%2 = param i32 %0 {1}
%3 = const index 0
%4 = const index 1
%5 = const i32 5
%6 = index i32 %1 %3
%7 = store void %6 %5
%8 = index i32 %1 %4
%9 = store void %8 %5
%10 = group void %7 %9
%11 = after i32 %2 %9
%12 = index i32 %11 %3
%13 = store void %12 %5
%14 = sink void %10 %13 {"k"}
)"),
            "{p0[0] = 5; p0[1] = 5}\np1@(p0[1] = 5)[0] = 5");
}

}  // namespace
}  // namespace assay::codegen
