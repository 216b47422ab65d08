#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/codegen/decompose.h"
#include "engine/codegen/term.h"
#include "engine/uop/bounds.h"
#include "engine/uop/eval.h"
#include "engine/uop/prefix.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

// Scalar terms after decompose_passes(), for tests.
namespace assay::codegen {

// The generic target, and one with f64 and f16 beside.
inline const uop::Target& wide_target() {
  static const uop::Target target = [] {
    uop::Target t = uop::generic_target();
    t.name = "wide";
    t.arithmetic = t.arithmetic | uop::TypeSet{uop::F16, uop::F64};
    t.storage = {};
    for (uop::UlpLimit& row : t.math.limits) {
      if (uop::is_scalar(row.op) && row.ulps == 0) row.over = {uop::F16, uop::F32, uop::F64};
      if (row.op == uop::Op::FDiv || row.op == uop::Op::Recip || row.op == uop::Op::Sqrt) {
        row.over = {uop::F32, uop::F64};
      }
    }
    return t;
  }();
  return target;
}

// Equal, with every NaN as one.
inline bool same(uop::Value a, uop::Value b) { return a == b || (is_nan(a) && is_nan(b)); }

// Every pass takes and leaves what it says.
class NoBreach : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const uop::PassSeen& seen) override {
    EXPECT_EQ(seen.breach.value_or(""), "") << seen.pass.name;
  }
};

inline Result<uop::Ref> lowered(uop::Graph& g, uop::Ref u,
                                const uop::Target& target = uop::generic_target()) {
  NoBreach watch;
  uop::Run run(g, {}, &watch, target);
  return uop::run_passes(decompose_passes(), run, u);
}

// What of a lowered term could trap or be undefined in C, or is no type or function of the target.
inline std::string fault(uop::Graph& g, uop::Ref root, const uop::Target& target) {
  using uop::Op;
  const auto bad = uop::verify(g, root);
  if (bad) return *bad;
  for (const uop::Ref u : uop::toposort(g, root)) {
    const std::string name(uop::to_text(u->op));
    if (!target.arithmetic.has(u->dtype)) return name + " at " + std::string(to_text(u->dtype));
    const bool at_integer = uop::is_fixed_int(u->dtype);
    if (u->op == Op::Threefry || (u->op == Op::Pow && at_integer)) return name + " is left";
    if ((u->op == Op::Div || u->op == Op::Mod) &&
        (uop::bounds(g, u->src[0]).lo < 0 || uop::bounds(g, u->src[1]).lo < 0)) {
      return name + " of a negative number";
    }
    if (u->op == Op::Shl || u->op == Op::Shr) {
      const uop::Bounds by = uop::bounds(g, u->src[1]);
      if (by.lo < 0 || by.hi >= uop::bits_of(u->dtype)) return name + " out of the width";
    }
  }
  return {};
}

// Evaluates a lowered term. The result is defined only if each division and each cast in the term
// is: none of them may trap, or be undefined, in C.
class LoweredTerm {
 public:
  LoweredTerm(uop::Graph& g, uop::Ref u, const uop::Target& target = uop::generic_target())
      : root_(lowered(g, u, target).value()), evaluator_(g, root_) {
    EXPECT_EQ(fault(g, root_, target), "");
    for (const uop::Ref leaf : evaluator_.leaves()) names_.emplace_back(leaf->arg.name());
    // What stands under a condition is computed by C all the same where it has no effect.
    for (const uop::Ref node : uop::toposort(g, root_)) {
      if (may_trap(node)) parts_.push_back({uop::Evaluator(g, node), {}});
    }
    for (Part& part : parts_) {
      for (const uop::Ref leaf : part.evaluator.leaves()) {
        part.names.emplace_back(leaf->arg.name());
      }
    }
  }

  // The leaves' values in the order of their names.
  uop::Cell at(std::initializer_list<uop::Value> sorted) {
    const std::vector<uop::Value> given(sorted);
    for (Part& part : parts_) {
      if (!run(part.evaluator, part.names, given).defined()) return {};
    }
    return run(evaluator_, names_, given);
  }
  uop::Ref root() const { return root_; }

 private:
  static bool may_trap(uop::Ref u) {
    using uop::Op;
    if (u->op == Op::Cast) return uop::is_float(u->src[0]->dtype) && uop::is_fixed_int(u->dtype);
    return uop::OpSet{Op::Div, Op::Mod, Op::TDiv, Op::TMod}.has(u->op);
  }

  struct Part {
    uop::Evaluator evaluator;
    std::vector<std::string> names;
  };

  uop::Cell run(uop::Evaluator& evaluator, const std::vector<std::string>& names,
                const std::vector<uop::Value>& given) {
    values_.clear();
    for (const std::string& name : names) {
      values_.push_back(given[static_cast<size_t>(name[0] - 'x')]);
    }
    return evaluator.run(values_);
  }

  uop::Ref root_;
  uop::Evaluator evaluator_;
  std::vector<std::string> names_;
  std::vector<Part> parts_;  // divisions and casts that cut, each by itself
  std::vector<uop::Value> values_;
};

}  // namespace assay::codegen
