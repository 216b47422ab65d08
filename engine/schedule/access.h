#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/uop/gate.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/shape.h"
#include "engine/uop/uop.h"

namespace assay::schedule {

using uop::Gated;
using uop::gated;
using uop::Graph;
using uop::Ref;
using uop::Run;
using uop::Shape;
using uop::split_gate;

// Where a value is read: an index for each axis of its shape, and the gate, the condition under
// which it is needed at all. A gate is null where it always holds; where it never does, it may be
// the constant false. Equal lists of one graph are one span.
struct Access {
  Shape index;
  Ref gate = nullptr;
};

inline bool same(Shape a, Shape b) { return a.data() == b.data() && a.size() == b.size(); }

// Index arithmetic of one run. Sums are kept in canonical order as they are made; the symbolic
// rules are asked only for terms that hold a quotient, a remainder or a comparison that they might
// change, and once for each term.
class Indexer {
 public:
  explicit Indexer(Run& run) : g_(run.graph()), rewritten_(run, uop::symbolic_rules()) {}

  // Where a movement reads its source when it is read at `at`. A pad's own condition is left in
  // `valid`: null where the index is always inside.
  Access through(Ref movement, const Access& at, Ref* valid);
  // Where an operand of this shape is read when the whole, to which it broadcasts, is read at `at`.
  Access broadcast(Shape operand, Shape whole, const Access& at);

  // The place in row-major order of the element at these indices.
  Ref flat(Shape sizes, Shape index);
  // The same where the strides of the sizes are known.
  Ref flat_by(std::span<const Ref> strides, Shape index);
  std::vector<Ref> strides(Shape sizes);
  // The term in canonical form: the same for terms that the symbolic rules make one.
  Ref simplified(Ref u);
  // The same for a term that was simplified before its ranges were numbered anew, in their order:
  // only terms with quotients and the like can have come out of it.
  Ref tidy(Ref u);
  // Gate a and gate b, a or b.
  Ref both(Ref a, Ref b);
  Ref either(Ref a, Ref b);
  Ref less(Ref a, Ref b);

  // What went wrong in the rules, if anything did.
  const std::optional<Error>& trouble() const { return rewritten_.trouble(); }

 private:
  using Product = std::pair<Ref, Ref>;  // of a term and a constant or symbolic size

  Ref sum(std::span<const Product> products, uop::Int128 constant);
  Ref plus(Ref u, Ref amount, int sign);
  Ref quotient(Ref u, Ref d);
  Ref remainder(Ref u, Ref d);
  Access pad(Ref movement, const Access& at, Ref* valid);
  Shape reshape(Shape from, Shape to, Shape index);
  bool reshape_by_ones(Shape from, Shape to, Shape index);
  void next_group(std::span<const Ref> from, std::span<const Ref> to, size_t& a, size_t& b);
  void reshape_group(Shape from, Shape to, Shape index, std::span<Ref> out);
  bool is_affine(Ref u);

  Graph& g_;
  uop::Rewritten rewritten_;
  std::vector<Ref> room_;
  std::vector<Product> products_;
};

// A condition as a gate.
Ref as_gate(Ref condition);
// Whether the gate never holds.
bool is_false(Ref gate);
// u where the gate holds, else zero.
Ref or_zero(Graph& g, Ref gate, Ref u);

// Whether u is made of ranges, variables and constants alone.
bool is_index_term(Ref u);

}  // namespace assay::schedule
