#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include "engine/result.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/sum.h"

namespace assay::codegen {

// Makes the scalar terms that lanes are. A lane puts constants where the vector had a list of them,
// so constants are folded, index arithmetic comes out as canonical sums (lanes side by side differ
// in the constant alone), comparisons that bounds decide are constants, and the symbolic rules are
// asked for the quotients, remainders and comparisons that are left, once for each term.
class LaneTerms {
 public:
  explicit LaneTerms(uop::Run& run) : g_(run.graph()), simplified_(run, uop::symbolic_rules()) {}

  // A scalar function of scalars; INVALID where an operand that it asks for is.
  uop::Ref make(uop::Op op, uop::DType t, std::span<const uop::Ref> src);
  uop::Ref make(uop::Op op, uop::DType t, std::initializer_list<uop::Ref> src) {
    return make(op, t, std::span(src.begin(), src.size()));
  }
  uop::Ref constant(uop::DType t, int64_t n) { return g_.constant(t, n); }
  // a + b, a * b for terms of type `index`, and a sum in its canonical form.
  uop::Ref plus(uop::Ref a, uop::Ref b);
  uop::Ref times(uop::Ref a, uop::Ref b);
  uop::Ref canonical(uop::Ref u);

  // What went wrong in the rules, if anything did.
  const std::optional<Error>& trouble() const { return simplified_.trouble(); }

 private:
  uop::Ref folded(uop::Op op, uop::DType t, std::span<const uop::Ref> src);
  uop::Ref select(uop::DType t, std::span<const uop::Ref> src);
  uop::Ref logic(uop::Op op, std::span<const uop::Ref> src);
  uop::Ref arithmetic(uop::Op op, std::span<const uop::Ref> src);
  uop::Ref shift(uop::Ref u, int64_t constant);
  uop::Ref added(uop::Ref a, uop::Ref b, int sign);
  uop::Ref divided(uop::Op op, uop::Ref a, uop::Ref b);
  uop::Ref compared(uop::Op op, uop::Ref a, uop::Ref b);
  uop::Ref below(const uop::Sum& difference);
  uop::Ref moved(uop::Op op, uop::Sum terms, uop::Int128 limit, bool is_right);

  uop::Graph& g_;
  uop::Rewritten simplified_;
};

}  // namespace assay::codegen
