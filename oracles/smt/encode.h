#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"
#include "oracles/smt/formula.h"

namespace assay::smt {

// What the numbers of a term are to a solver.
enum class View : uint8_t {
  // Integers are Bits of their width, `index` is 64 of them, floats are IEEE numbers, but for e4m3,
  // which is 8 Bits.
  AtWidth,
  // Integers are Int and nothing wraps: where something would, `fits` is false. Floats as above.
  Integers,
  // Integers likewise, and floats are numbers that are never rounded, infinite or NaN.
  Reals,
};

// What a node denotes, by engine/uop/README.md ("What operations mean") and by nothing else.
struct Encoded {
  Term value;       // of the sort of its type; means something where is_defined and fits
  Term is_defined;  // it has a value: not unspecified, not Invalid
  Term is_invalid;  // never together with is_defined
  // No integer on the way to its value leaves its type (or 64 bits, of an `index`): then the others
  // are right. At width that is said of `index` alone, since all others wrap as they should.
  Term fits;
};

// Scalar terms as terms of one formula. VARIABLE, RANGE and SPECIAL are variables within their
// bounds; LOAD and all else that is no scalar function is some value of its type.
class Encoder {
 public:
  Encoder(uop::Graph& g, Formula& f, View view) : g_(g), f_(f), view_(view) {}

  // A leaf that may also be unspecified or Invalid. Said before it is encoded.
  void set_wild(uop::Ref leaf, bool may_be_unspecified, bool may_be_invalid);

  // Nothing where some node has no meaning to this view; why() names it.
  std::optional<Encoded> encode(uop::Ref u);
  const std::string& why() const { return why_; }

  // What holds of the leaves that were met: of a RANGE that it is below its count. To be required.
  std::span<const Term> facts() const { return facts_; }

  struct Leaf {
    uop::Ref u;
    Encoded is;
    Term is_unspecified;
  };
  // The leaves that were met, in that order.
  std::span<const Leaf> leaves() const { return leaves_; }

  // The sort of values of type t in this view; nothing if it has none.
  std::optional<Sort> sort_of(uop::DType t) const;
  // A constant.
  Term number(uop::Value v);
  // Whether a < b, of two values of integer type t.
  Term less(uop::DType t, Term a, Term b);

  Formula& formula() { return f_; }
  View view() const { return view_; }

 private:
  using Operands = std::span<const Encoded>;
  struct Wild {
    bool may_be_unspecified = false;
    bool may_be_invalid = false;
  };

  std::optional<Encoded> node(uop::Ref u);
  std::optional<Encoded> leaf(uop::Ref u);
  Term leaf_value(uop::Ref u, Sort sort);
  void bound_leaf(uop::Ref u, Term value);
  std::string name_of(uop::Ref u);
  std::optional<Encoded> where(Operands x);
  std::optional<Encoded> function(uop::Ref u, Operands x);
  std::nullopt_t no_meaning(uop::Ref u);
  // `fits` asks for this too, where there is a value so far.
  void narrow_fits(Encoded& out, Term holds);

  // Each sets the value and narrows is_defined and fits of `out`; false if it has no meaning.
  bool of_bool(uop::Ref u, Operands x, Encoded& out);
  bool of_compare(uop::Ref u, Operands x, Encoded& out);
  bool of_bits(uop::Ref u, Operands x, Encoded& out);
  bool of_bits_division(uop::Ref u, Term a, Term b, Encoded& out);
  void bits_fit(uop::Ref u, Term a, Term b, Encoded& out);
  bool of_int(uop::Ref u, Operands x, Encoded& out);
  bool of_int_division(uop::Ref u, Term a, Term b, Encoded& out);
  bool of_power(uop::Ref u, Term a, Term b, Encoded& out);
  bool of_float(uop::Ref u, Operands x, Encoded& out);
  bool of_real(uop::Ref u, Operands x, Encoded& out);
  bool of_cast(uop::Ref u, const Encoded& x, Encoded& out);
  bool to_integer(uop::Ref u, Term x, Encoded& out);
  bool to_float(uop::Ref u, Term x, Encoded& out);
  bool of_bitcast(uop::Ref u, Term x, Encoded& out);
  Term float_extreme(uop::Op op, Term a, Term b);
  // Whether t is a float that solvers know.
  bool is_ieee(uop::DType t) const;
  // e4m3 is 8 bits, of which this is the order as signed ones, -0.0 before 0.0.
  Term small_key(Term x);
  Term small_is_nan(Term x);
  Term small_compared(uop::Op op, Term a, Term b);
  bool of_small_float(uop::Ref u, Operands x, Encoded& out);
  // 2^n at type t, n within its width.
  Term power_of_two(uop::DType t, Term n);
  Term real(uop::Value v);

  uop::Graph& g_;
  Formula& f_;
  View view_;
  uop::NodeMap<Encoded> known_;
  uop::NodeMap<Wild> wild_;
  std::vector<Term> facts_;
  std::vector<Leaf> leaves_;
  std::string why_;
};

// Where `after` may not stand in the place of `before`: before has a value and after has none or
// another, or before is Invalid and after is not.
Term differs(Formula& f, const Encoded& before, const Encoded& after);

}  // namespace assay::smt
