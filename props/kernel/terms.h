#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/uop/uop.h"
#include "props/kernel/form.h"

namespace assay::props::kernel {

// What the value of a term may depend on, a bit each: the position of a group along three axes, of
// a work-item in its group along three, and the counters of loops. VARIABLEs are the same for all.
using Dims = uint64_t;
inline constexpr Dims kGroupDims = 0b000'111;
inline constexpr Dims kItemDims = 0b111'000;
inline constexpr Dims kAllDims = ~Dims{0};
inline constexpr int kFirstLoop = 6;
// The bit of a loop, counted from 0 in the order of the list. Loops past the last bit share it.
constexpr Dims loop_dim(size_t loop) {
  return Dims{1} << (loop < 57 ? kFirstLoop + static_cast<int>(loop) : 63);
}

// One integer that is no sum of others: where a work-item is, a loop's counter, a variable, what
// was loaded, a quotient.
struct Atom {
  Interval range;
  Dims depends = 0;
  uop::Ref node = nullptr;  // a SPECIAL, RANGE, VARIABLE or LOAD; null of what was derived
  int32_t definition = -1;  // what it has to do with other atoms
  bool is_free = false;     // data, or what no form says: any value of its range
};

// What holds of some atoms at each point: one of `cases`, or atom = left * right.
struct Definition {
  Cases cases;
  std::optional<std::array<int32_t, 3>> product;
};

// The integer and boolean terms of a kernel as forms over atoms, exact at their widths: where
// arithmetic may wrap, how often it does is an atom. All is derived from the nodes by themselves.
class Terms {
 public:
  // `written(storage)` says whether the kernel stores to it: what it loads from elsewhere is the
  // same for all who load it from one place.
  using Written = std::function<bool(uop::Ref storage)>;
  explicit Terms(Written written) : written_(std::move(written)) {}
  // What a LOAD yields, where that is known.
  using Loaded = std::function<std::optional<Form>(uop::Ref load)>;
  void set_loaded(Loaded loaded) { loaded_ = std::move(loaded); }

  // A position along an axis of the launch, from 0 to count - 1.
  int32_t add_position(int bit, Int128 count);
  // A VARIABLE has no other value.
  void set_variable(uop::Ref variable, Int128 value) { forms_[variable] = number_form(value); }
  // A SPECIAL is that position, whose count may be a term of variables.
  void set_special(uop::Ref special, int bit);
  // A RANGE is a loop with this bit.
  void set_loop(uop::Ref range, Dims bit);

  // Of a scalar integer or bool (0 or 1).
  const Form& form(uop::Ref u);
  // When a bool is so.
  const Cases& condition(uop::Ref u, bool holds);
  Dims depends_of(uop::Ref u);

  // What is left of a form by a positive number, from 0 to divisor - 1.
  Form remainder(const Form& form, Int128 divisor) { return divided(form, divisor).second; }

  Interval range_of(const Form& form) const;
  Dims depends_of(const Form& form) const;
  bool is_free(const Form& form) const;
  const Atom& atom(int32_t a) const { return atoms_[static_cast<size_t>(a)]; }
  const Definition& definition(int32_t d) const { return definitions_[static_cast<size_t>(d)]; }
  size_t atom_count() const { return atoms_.size(); }
  // Of that bit; -1 where the launch has but one place along it.
  int32_t position(int bit) const { return positions_[static_cast<size_t>(bit)]; }
  // Of a SPECIAL, RANGE or VARIABLE that was read.
  int32_t atom_of(uop::Ref leaf) const { return forms_.at(leaf).terms[0].atom; }

 private:
  // quotient and remainder of a form by a positive number, rounded down
  std::pair<Form, Form> divided(const Form& form, Int128 divisor);
  // by a form that is positive
  std::pair<Form, Form> divided(const Form& form, const Form& divisor);
  Form compute(uop::Ref u);
  Form compute_binary(uop::Ref u);
  Form leaf(uop::Ref u);
  Form exact_product(const Form& a, const Form& b);
  Form shifted(uop::Ref u, const Form& a, const Form& by);
  Form truncated(uop::Ref u, const Form& n, const Form& divisor);
  Form selected(const Cases& first, const Form& a, const Cases& second, const Form& b);
  // All ones or none, as the sign of a number is spread.
  bool is_mask(const Form& form) const { return range_of(form).is_within(-1, 0); }
  Form crossed(uop::Ref u, const Form& a, const Form& b);
  Form masked(uop::Ref u, const Form& a, const Form& b);
  // The value that an exact result has at a type.
  Form wrapped(Form exact, uop::DType t);
  Form free_form(uop::Ref u);
  int32_t as_atom(const Form& form);
  int32_t add_atom(Interval range, Dims depends);
  int32_t define(int32_t atom, Cases cases);
  Cases compute_condition(uop::Ref u, bool holds);
  Cases compared(uop::Ref u, bool holds);
  Cases free_condition(uop::Ref u, bool holds);

  Written written_;
  Loaded loaded_;
  std::vector<Atom> atoms_;
  std::vector<Definition> definitions_;
  std::array<int32_t, kFirstLoop> positions_ = {-1, -1, -1, -1, -1, -1};
  // A kernel is a small part of its graph: tables by node would be mostly empty.
  template <typename T>
  using ByNode = std::unordered_map<uop::Ref, T>;
  ByNode<Form> forms_;
  ByNode<Cases> conditions_[2];
  ByNode<Dims> depends_;
  ByNode<int32_t> free_;
  std::map<std::tuple<Form, Int128>, std::pair<int32_t, int32_t>> quotients_;
  std::map<std::pair<Form, Form>, std::pair<int32_t, int32_t>> symbolic_quotients_;
  std::map<std::pair<int32_t, int32_t>, int32_t> products_;
  std::map<Form, int32_t> named_;
};

// Any of these and any of those. Nothing where that is too many.
std::optional<Cases> both(const Cases& a, const Cases& b);

}  // namespace assay::props::kernel
