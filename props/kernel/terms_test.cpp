// Forms are what terms evaluate to, wrapped at their widths.
#include "props/kernel/terms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/sample.h"
#include "engine/uop/text.h"
#include "props/kernel/question.h"

namespace assay::props::kernel {
namespace {

using uop::DType;
using uop::Op;
using uop::Ref;

// Integer terms of two positions and a variable, as indices and gates are made of them and worse.
class RandomTerm {
 public:
  RandomTerm(uop::Graph& g, uop::Random& random, std::vector<Ref> leaves)
      : g_(g), random_(random), leaves_(std::move(leaves)) {}

  Ref integer(int depth) {
    if (depth == 0 || random_.once_in(6)) return leaf();
    const Ref a = integer(depth - 1);
    switch (random_.below(11)) {
      case 0: {
        const Ref gate = truth(depth - 1);
        const Ref b = as(integer(depth - 1), a->dtype);
        return g_.alu(Op::Where, {gate, a, b});
      }
      case 1: return as(a, type());
      case 2: return g_.alu(Op::Neg, {a});
      case 3:
      case 4: {
        static constexpr Op kBy[] = {Op::Div, Op::Mod, Op::TDiv, Op::TMod, Op::Shl, Op::Shr};
        const Op op = kBy[random_.below(std::size(kBy))];
        const Ref by = g_.constant(a->dtype, 1 + static_cast<int64_t>(random_.below(6)));
        return g_.alu(op, {a, by});
      }
      case 6: {
        if (!uop::is_int(a->dtype) || uop::is_unsigned(a->dtype)) return a;
        const Ref last = g_.constant(a->dtype, uop::bits_of(a->dtype) - 1);
        const Ref sign = g_.alu(Op::Shr, {a, last});
        return g_.alu(random_.once_in(2) ? Op::Xor : Op::And, {a, sign});
      }
      case 5: {
        static constexpr int64_t kMasks[] = {1, 3, 7, 255, 5};
        const Ref mask = g_.constant(a->dtype, kMasks[random_.below(4)]);
        return g_.alu(Op::And, {a, mask});
      }
      default: break;
    }
    static constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min};
    const Op op = kOps[random_.below(std::size(kOps))];
    const Ref b = as(integer(depth - 1), a->dtype);
    return g_.alu(op, {a, b});
  }

  Ref truth(int depth) {
    if (depth > 0 && random_.once_in(3)) {
      static constexpr Op kOps[] = {Op::And, Op::Or, Op::Xor};
      const Op op = kOps[random_.below(std::size(kOps))];
      const Ref a = truth(depth - 1);
      const Ref b = truth(depth - 1);
      return g_.alu(op, {a, b});
    }
    static constexpr Op kOps[] = {Op::Lt, Op::Eq, Op::Ne};
    const Op op = kOps[random_.below(std::size(kOps))];
    const Ref a = integer(depth);
    const Ref b = as(integer(depth), a->dtype);
    return g_.alu(op, {a, b});
  }

 private:
  DType type() {
    static constexpr DType kTypes[] = {uop::I32, uop::I64, uop::U8, uop::I16, uop::I8, uop::U32};
    return kTypes[random_.below(std::size(kTypes))];
  }
  Ref as(Ref x, DType t) { return x->dtype == t ? x : g_.make(Op::Cast, t, {x}); }
  Ref leaf() {
    if (!random_.once_in(3)) return leaves_[random_.below(leaves_.size())];
    static constexpr int64_t kNumbers[] = {0, 1, 2, 3, 7, 8, 100, -1, -5, 1 << 30};
    return g_.constant(uop::I32, kNumbers[random_.below(std::size(kNumbers))]);
  }

  uop::Graph& g_;
  uop::Random& random_;
  std::vector<Ref> leaves_;
};

Found can_be(KernelModel& m, const std::vector<Ref>& leaves, std::span<const uop::Value> values,
             const Cases& cases) {
  Question q(m, 0);
  for (size_t i = 0; i < leaves.size(); i++)
    q.require(1, equal_to(m.terms.form(leaves[i]), uop::as_int(values[i])));
  q.require(1, cases);
  return q.problem().search(1'000'000).found;
}

// At each point the form can be what the term is there, and no other number.
void expect_equal(uop::Graph& g, KernelModel& m, const std::vector<Ref>& leaves, Ref root) {
  uop::Evaluator evaluator(g, root);
  for (int64_t n = 0; n < 3 * 4 * 5; n += 7) {
    const std::vector<uop::Value> values = {uop::of_int(uop::I32, n % 3),
                                            uop::of_int(uop::I32, n / 3 % 4),
                                            uop::of_int(uop::I32, n / 12 - 2)};
    std::vector<uop::Value> ordered;
    for (const Ref leaf : evaluator.leaves()) {
      const auto at = std::ranges::find(leaves, leaf) - leaves.begin();
      ordered.push_back(values[static_cast<size_t>(at)]);
    }
    const uop::Cell cell = evaluator.run(ordered);
    if (!cell.defined()) continue;
    const Int128 value = uop::as_int(cell.value);
    if (root->dtype == DType::Bool) {
      for (const bool holds : {false, true}) {
        const Found wanted = holds == (value != 0) ? Found::Yes : Found::No;
        ASSERT_EQ(can_be(m, leaves, values, m.terms.condition(root, holds)), wanted)
            << n << "\n"
            << uop::to_text(g, root, "term");
      }
      continue;
    }
    const Form& form = m.terms.form(root);
    ASSERT_EQ(can_be(m, leaves, values, {{equal_to(form, value)}}), Found::Yes)
        << n << "\n"
        << uop::to_text(g, root, "term");
    if (m.terms.is_free(form)) continue;
    const Cases others = {{at_most(form, value - 1)}, {at_least(form, value + 1)}};
    ASSERT_EQ(can_be(m, leaves, values, others), Found::No) << n << "\n"
                                                            << uop::to_text(g, root, "term");
  }
}

TEST(Terms, AreWhatTheyEvaluateTo) {
  uop::Random random(1);
  int wrapping = 0;
  for (int i = 0; i < 1500; i++) {
    uop::Graph g;
    KernelModel m;
    m.scopes.push_back({});
    const Ref three = g.constant(uop::I32, 3);
    const Ref four = g.constant(uop::I32, 4);
    const Ref x = g.make(Op::Special, uop::I32, {three}, g.name("gidx0"));
    const Ref y = g.make(Op::Special, uop::I32, {four}, g.name("lidx0"));
    const Ref n = g.variable("n", uop::of_int(uop::I32, -2), uop::of_int(uop::I32, 2));
    m.terms.set_special(x, 0);
    m.terms.set_special(y, 3);
    m.terms.form(n);
    RandomTerm make(g, random, {x, y, n});
    const Ref root = random.once_in(3) ? make.truth(2) : make.integer(3);
    expect_equal(g, m, {x, y, n}, root);
    if (HasFatalFailure()) return;
    for (size_t a = 0; a < m.terms.atom_count(); a++) {
      const Interval range = m.terms.atom(static_cast<int32_t>(a)).range;
      if (range.hi - range.lo == (Int128{1} << 32) - 1) wrapping++;
    }
  }
  // The width of arithmetic matters now and then.
  EXPECT_GT(wrapping, 20);
}

}  // namespace
}  // namespace assay::props::kernel
