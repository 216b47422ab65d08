#include "engine/codegen/index_terms.h"

#include <algorithm>

#include "engine/uop/bounds.h"
#include "engine/uop/sum.h"

namespace assay::codegen {

using uop::DType;
using uop::Op;
using uop::Ref;

void IndexTerms::note(Ref u) {
  const bool decides =
      u->dtype == DType::Bool && uop::is_scalar(u->op) &&
      std::ranges::all_of(u->src, [&](Ref s) { return uop::is_const(s) || is_term(s); });
  if (u->dtype == DType::Index || decides) is_term_.set(u, 1);
}

Ref IndexTerms::simplified(Ref u) {
  if (uop::is_const(u)) return u;
  // A loop or a variable of one value is that number: the rules know.
  const auto is_leaf = [&](Ref atom) {
    const bool may = atom->op == Op::Range || atom->op == Op::Variable;
    return may && !uop::is_single(uop::bounds(g_, atom));
  };
  if (u->dtype == DType::Index) {
    const std::optional<uop::Sum> sum = uop::sum_of(g_, u);
    if (sum && std::ranges::all_of(sum->terms(), is_leaf, &uop::Sum::Term::atom)) {
      return uop::build(g_, *sum);
    }
  }
  return rewritten_(u);
}

Ref IndexTerms::settled(Ref before, Ref now) {
  const Ref after = simplified(now);
  has_decided_ = has_decided_ || (uop::is_const(after) && !uop::is_const(before));
  return after;
}

}  // namespace assay::codegen
