#pragma once

#include <map>
#include <string>

#include "engine/uop/uop.h"
#include "oracles/choices.h"

namespace assay::props {

using oracles::Choices;

// Makes random scalar terms, well-typed by construction: all scalar operations at all types, with
// more of what rules are about than chance would give (sums with constant factors, quotients and
// remainders by constants, gates, casts of casts).
class TermMaker {
 public:
  TermMaker(uop::Graph& g, Choices& choices) : g_(g), c_(choices) {}

  // A term of type t with about `size` operations.
  uop::Ref term(uop::DType t, int size);
  // A term whose root is `op`, with `t` the type that a rule's `over` would speak of. For VARIABLE,
  // a variable.
  uop::Ref rooted(uop::Op op, uop::DType t, int size);

 private:
  uop::Ref constant(uop::DType t, int64_t n) { return g_.constant(t, n); }
  uop::Ref small_constant(uop::DType t);
  uop::Ref leaf(uop::DType t);
  uop::Ref variable(uop::DType t);
  uop::Ref generic(uop::Op op, uop::DType t, int size);
  uop::Ref second_operand(uop::Op op, uop::DType t, int size);
  uop::Ref convert(uop::Op op, uop::DType from, uop::DType to, int size);
  uop::Ref compare(uop::Op op, uop::DType t, int size);
  uop::Ref condition(int size);
  uop::Ref gated(uop::DType t, int size);
  uop::Ref sum(uop::DType t, int size);
  uop::Ref division(uop::DType t, int size);
  uop::Ref recombined(uop::DType t, int size);
  uop::Ref repeated(uop::DType t, int size);
  uop::DType any_type();
  uop::Op any_op(uop::DType t);

  uop::Graph& g_;
  Choices& c_;
  std::map<std::string, uop::Ref> variables_;
};

}  // namespace assay::props
