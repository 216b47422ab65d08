#pragma once

#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "props/kernel/model.h"
#include "props/kernel/problem.h"

namespace assay::props::kernel {

// One execution of an access or a barrier: the values of positions, counters and variables, each
// with the name it has in evidence.
struct Event {
  struct Value {
    std::string name;
    Int128 value;
  };
  std::vector<Value> values;
};
// "lidx0 = 3, %14 = 2"
std::string to_text(const Event& event);

// Is there a point, or are there two points of a launch, for which this holds? Both have the same
// value of every atom that depends on none of the dimensions that hold them `apart`: variables
// always, positions of groups where the two are in one group.
class Question {
 public:
  Question(const KernelModel& model, Dims apart)
      : model_(model), terms_(model.terms), apart_(apart) {}

  void require(int side, const Within& within);
  void require(int side, const Cases& cases);
  void require_false() { problem_.add_linear({}, 1, 1); }
  // lo <= first at point 0 - second at point 1 <= hi
  void require_difference(const Form& first, const Form& second, Int128 lo, Int128 hi);
  // Some position along these dimensions differs.
  void require_apart(Dims among);
  // Some counter of these loops differs.
  void require_apart(std::span<const int> loops);

  const Problem& problem() const { return problem_; }
  // The values at a point, of an answer.
  Int128 value(int side, int32_t atom, std::span<const Int128> values) const;
  Int128 value(int side, const Form& form, std::span<const Int128> values) const;
  Event event(int side, std::span<const Int128> values) const;
  // Whether what was required says anything of the atom.
  bool is_asked(int32_t atom) const;
  // Of all VARIABLEs of the kernel.
  interpreter::Variables variables(std::span<const Int128> values) const;
  // No atom of the question stands for data.
  bool is_exact() const { return is_exact_; }

 private:
  static constexpr int32_t kNone = -1;
  // Where an atom is in the problem: at point 1, and how much more it is at point 0.
  struct Place {
    int32_t base = kNone;
    int32_t more = kNone;
  };
  using Factors = std::vector<Problem::Factor>;

  bool is_shared(int32_t atom) const { return (terms_.atom(atom).depends & apart_) == 0; }
  Place& place(int32_t atom);
  int32_t base(int32_t atom);
  int32_t more(int32_t atom);
  void link(int32_t atom);
  void define(int32_t atom);
  void add(Factors& sum, int32_t variable, Int128 times) const;
  void add_form(Factors& sum, int side, const Form& form, Int128 times);
  int32_t add_linear(int side, const Within& within, bool is_option);
  void require_any_apart(std::span<const int32_t> atoms);

  const KernelModel& model_;
  const Terms& terms_;
  Dims apart_;
  Problem problem_;
  std::vector<Place> places_;  // by atom
  std::set<std::pair<int32_t, int>> defined_;
  bool is_exact_ = true;
};

}  // namespace assay::props::kernel
