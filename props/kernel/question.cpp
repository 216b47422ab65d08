#include "props/kernel/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/walk.h"

namespace assay::props::kernel {

using uop::Op;

std::string to_text(const Event& event) {
  std::string text;
  for (const Event::Value& v : event.values) {
    text +=
        fmt::format("{}{} = {}", text.empty() ? "" : ", ", v.name, static_cast<int64_t>(v.value));
  }
  return text;
}

Question::Place& Question::place(int32_t atom) {
  if (places_.size() < terms_.atom_count()) places_.resize(terms_.atom_count());
  return places_[static_cast<size_t>(atom)];
}

int32_t Question::base(int32_t atom) {
  if (place(atom).base != kNone) return place(atom).base;
  const Atom& a = terms_.atom(atom);
  is_exact_ = is_exact_ && !a.is_free;
  place(atom).base = problem_.add_variable(a.range.lo, a.range.hi, a.node != nullptr);
  if (place(atom).more != kNone) link(atom);
  if (a.definition >= 0) {
    if (!is_shared(atom)) more(atom);
    define(atom);
  }
  return place(atom).base;
}

int32_t Question::more(int32_t atom) {
  if (place(atom).more != kNone) return place(atom).more;
  const Atom& a = terms_.atom(atom);
  is_exact_ = is_exact_ && !a.is_free;
  const Int128 width = a.range.hi - a.range.lo;
  place(atom).more = problem_.add_variable(-width, width, a.node != nullptr);
  if (place(atom).base != kNone) {
    link(atom);
  } else if (a.definition >= 0) {
    base(atom);
  }
  return place(atom).more;
}

// The atom lies within its range at point 0 too.
void Question::link(int32_t atom) {
  const Interval range = terms_.atom(atom).range;
  const Problem::Factor sum[] = {{place(atom).base, 1}, {place(atom).more, 1}};
  problem_.add_linear(sum, range.lo, range.hi);
}

// What an atom has to do with others, at each point, and for differences of the two where it is an
// equation: bounds of differences are lost in bounds of the points.
void Question::define(int32_t atom) {
  const int32_t number = terms_.atom(atom).definition;
  if (!defined_.insert({number, 0}).second) return;
  const Definition& d = terms_.definition(number);
  const bool is_one = is_shared(atom);
  if (d.product) {
    const auto [product, x, y] = *d.product;
    // Of the points one by one, whose variables have to be there for that.
    for (int side = is_one ? 1 : 0; side < 2; side++) {
      const auto at_side = [&](int32_t a) {
        if (side == 1) return base(a);
        const Interval range = terms_.atom(a).range;
        const int32_t own = problem_.add_variable(range.lo, range.hi);
        Factors sum;
        add_form(sum, 0, atom_form(a), 1);
        add(sum, own, -1);
        problem_.add_linear(sum, 0, 0);
        return own;
      };
      const int32_t p = at_side(product);
      const int32_t q = at_side(x);
      problem_.add_product(p, q, at_side(y));
    }
    if (is_one || is_shared(x) == is_shared(y)) return;
    // x0 y - x1 y = (x0 - x1) y
    const int32_t difference = more(product);
    const int32_t varies = more(is_shared(x) ? y : x);
    problem_.add_product(difference, varies, base(is_shared(x) ? x : y));
    return;
  }
  for (int side = is_one ? 1 : 0; side < 2; side++) require(side, d.cases);
  if (is_one || d.cases.size() != 1) return;
  for (const Within& w : d.cases[0]) {
    if (w.lo == w.hi) require_difference(w.form, w.form, 0, 0);
  }
}

void Question::add(Factors& sum, int32_t variable, Int128 times) const {
  const auto is_it = [&](const Problem::Factor& f) { return f.variable == variable; };
  const auto known = std::ranges::find_if(sum, is_it);
  if (known == sum.end()) {
    if (times != 0) sum.push_back({variable, times});
    return;
  }
  known->times += times;
  if (known->times == 0) sum.erase(known);
}

void Question::add_form(Factors& sum, int side, const Form& form, Int128 times) {
  for (const Form::Term& t : form.terms) {
    add(sum, base(t.atom), times * t.times);
    if (side == 0 && !is_shared(t.atom)) add(sum, more(t.atom), times * t.times);
  }
}

int32_t Question::add_linear(int side, const Within& w, bool is_option) {
  Factors sum;
  add_form(sum, side, w.form, 1);
  return problem_.add_linear(sum, w.lo - w.form.constant, w.hi - w.form.constant, is_option);
}

void Question::require(int side, const Within& within) { add_linear(side, within, false); }

void Question::require(int side, const Cases& cases) {
  if (cases.empty()) require_false();
  if (cases.size() == 1) {
    for (const Within& w : cases[0]) add_linear(side, w, false);
  }
  if (cases.size() < 2) return;
  std::vector<std::vector<int32_t>> options;
  for (const Case& c : cases) {
    options.emplace_back();
    for (const Within& w : c) options.back().push_back(add_linear(side, w, true));
  }
  problem_.add_clause(std::move(options));
}

void Question::require_difference(const Form& first, const Form& second, Int128 lo, Int128 hi) {
  Factors sum;
  // a (base + more) - b base, in which base vanishes where a = b.
  const Form rest = kernel::sum(first, second, -1);
  for (const Form::Term& t : rest.terms) add(sum, base(t.atom), t.times);
  for (const Form::Term& t : first.terms) {
    if (!is_shared(t.atom)) add(sum, more(t.atom), t.times);
  }
  problem_.add_linear(sum, lo - rest.constant, hi - rest.constant);
}

void Question::require_any_apart(std::span<const int32_t> atoms) {
  std::vector<std::vector<int32_t>> options;
  for (const int32_t atom : atoms) {
    const Interval range = terms_.atom(atom).range;
    if (range.lo == range.hi || is_shared(atom)) continue;
    const Problem::Factor sum[] = {{more(atom), 1}};
    options.push_back({problem_.add_linear(sum, 1, kInfinity, true)});
    options.push_back({problem_.add_linear(sum, -kInfinity, -1, true)});
  }
  if (options.empty()) {
    require_false();
  } else {
    problem_.add_clause(std::move(options));
  }
}

void Question::require_apart(Dims among) {
  std::vector<int32_t> atoms;
  for (int bit = 0; bit < kFirstLoop; bit++) {
    const int32_t position = terms_.position(bit);
    if ((among >> bit & 1) != 0 && position >= 0) atoms.push_back(position);
  }
  require_any_apart(atoms);
}

void Question::require_apart(std::span<const int> loops) {
  std::vector<int32_t> atoms;
  for (const int loop : loops) {
    const Scope& s = model_.scopes[static_cast<size_t>(loop)];
    atoms.push_back(terms_.atom_of(s.node));
  }
  require_any_apart(atoms);
}

Int128 Question::value(int side, int32_t atom, std::span<const Int128> values) const {
  const Interval range = terms_.atom(atom).range;
  const Place p =
      static_cast<size_t>(atom) < places_.size() ? places_[static_cast<size_t>(atom)] : Place{};
  const Int128 more = p.more == kNone ? 0 : values[static_cast<size_t>(p.more)];
  // Where only the difference matters, any two places of that difference do.
  const Int128 base =
      p.base == kNone ? range.lo + std::max<Int128>(0, -more) : values[static_cast<size_t>(p.base)];
  return base + (side == 0 ? more : 0);
}

Int128 Question::value(int side, const Form& form, std::span<const Int128> values) const {
  Int128 total = form.constant;
  for (const Form::Term& t : form.terms) total += t.times * value(side, t.atom, values);
  return total;
}

bool Question::is_asked(int32_t atom) const {
  const auto i = static_cast<size_t>(atom);
  return i < places_.size() && (places_[i].base != kNone || places_[i].more != kNone);
}

interpreter::Variables Question::variables(std::span<const Int128> values) const {
  interpreter::Variables all;
  for (size_t i = 0; i < terms_.atom_count(); i++) {
    const auto atom = static_cast<int32_t>(i);
    const uop::Ref node = terms_.atom(atom).node;
    if (node == nullptr || node->op != Op::Variable) continue;
    all[std::string(node->arg.name())] = static_cast<int64_t>(value(1, atom, values));
  }
  return all;
}

Event Question::event(int side, std::span<const Int128> values) const {
  Event event;
  for (size_t i = 0; i < terms_.atom_count(); i++) {
    const auto atom = static_cast<int32_t>(i);
    const Atom& a = terms_.atom(atom);
    if (a.node == nullptr) continue;
    const bool is_named = a.node->op == Op::Special || a.node->op == Op::Variable;
    if (!is_asked(atom) && !is_named) continue;
    const std::string name =
        is_named ? std::string(a.node->arg.name()) : model_.text(model_.line_of(a.node));
    event.values.push_back({name, value(side, atom, values)});
  }
  return event;
}

}  // namespace assay::props::kernel
