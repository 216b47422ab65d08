#include "props/kernel/terms.h"

#include <algorithm>

#include "engine/check.h"

namespace assay::props::kernel {

using uop::DType;
using uop::Op;
using uop::Ref;

int32_t Terms::add_atom(Interval range, Dims depends) {
  Atom atom;
  atom.range = range;
  atom.depends = depends;
  atoms_.push_back(atom);
  return static_cast<int32_t>(atoms_.size()) - 1;
}

// Gives an atom the definition that it is one of; the number of it.
int32_t Terms::define(int32_t atom, Cases cases) {
  definitions_.push_back({std::move(cases), std::nullopt});
  const auto number = static_cast<int32_t>(definitions_.size()) - 1;
  atoms_[static_cast<size_t>(atom)].definition = number;
  return number;
}

int32_t Terms::add_position(int bit, Int128 count) {
  const int32_t atom = add_atom({0, count - 1}, Dims{1} << bit);
  positions_[static_cast<size_t>(bit)] = atom;
  return atom;
}

void Terms::set_special(Ref special, int bit) {
  const Form count = form(special->src[0]);
  int32_t& position = positions_[static_cast<size_t>(bit)];
  if (position < 0) add_position(bit, range_of(count).hi);
  atoms_[static_cast<size_t>(position)].node = special;
  if (!count.is_constant()) define(position, {{at_least(sum(count, atom_form(position), -1), 1)}});
  forms_[special] = atom_form(position);
}

void Terms::set_loop(Ref range, Dims bit) {
  const Form count = form(range->src[0]);
  const int32_t atom = add_atom({0, std::max<Int128>(range_of(count).hi, 1) - 1}, bit);
  atoms_[static_cast<size_t>(atom)].node = range;
  if (!count.is_constant()) {
    define(atom, {{at_least(sum(count, atom_form(atom), -1), 1)}});
    atoms_[static_cast<size_t>(atom)].depends |= depends_of(count);
  }
  forms_[range] = atom_form(atom);
  depends_[range] = atoms_[static_cast<size_t>(atom)].depends;
}

Interval Terms::range_of(const Form& form) const {
  Interval total = {form.constant, form.constant};
  for (const Form::Term& t : form.terms) {
    const Interval& range = atom(t.atom).range;
    total.lo += t.times * (t.times > 0 ? range.lo : range.hi);
    total.hi += t.times * (t.times > 0 ? range.hi : range.lo);
  }
  return total;
}

Dims Terms::depends_of(const Form& form) const {
  Dims dims = 0;
  for (const Form::Term& t : form.terms) dims |= atom(t.atom).depends;
  return dims;
}

bool Terms::is_free(const Form& form) const {
  return std::ranges::any_of(form.terms, [&](const Form::Term& t) { return atom(t.atom).is_free; });
}

Dims Terms::depends_of(Ref u) {
  const auto known = depends_.find(u);
  if (known != depends_.end()) return known->second;
  Dims dims = 0;
  if (u->op == Op::Special) {
    const auto position = forms_.find(u);
    dims = position == forms_.end() ? kAllDims : depends_of(position->second);
  } else if (u->op == Op::Load) {
    Ref storage = u->src[0];
    while (storage->op == Op::Index || storage->op == Op::Shrink || storage->op == Op::After)
      storage = storage->src[0];
    if (storage->op != Op::Param || written_(storage)) dims = kAllDims;
  }
  // What an AFTER waits for, and how large a storage is, is no part of a value.
  const bool is_storage = u->op == Op::Param || u->op == Op::Buffer;
  size_t count = u->src.size();
  if (is_storage || dims != 0) count = 0;
  if (u->op == Op::After) count = 1;
  for (size_t i = 0; i < count; i++) dims |= depends_of(u->src[i]);
  depends_[u] = dims;
  return dims;
}

Form Terms::free_form(Ref u) {
  const auto known = free_.find(u);
  if (known != free_.end()) return atom_form(known->second);
  if (u->op == Op::Load && loaded_) {
    if (const std::optional<Form> loaded = loaded_(u)) return *loaded;
  }
  Interval range = {0, 1};
  if (u->dtype != DType::Bool) range = {uop::min_int(u->dtype), uop::max_int(u->dtype)};
  const Dims dims = depends_of(u);
  const int32_t atom = add_atom(range, dims);
  atoms_[static_cast<size_t>(atom)].is_free = true;
  const bool is_lane = u->op == Op::Index && u->src[0]->op == Op::Load;
  atoms_[static_cast<size_t>(atom)].node = u->op == Op::Load || is_lane ? u : nullptr;
  free_[u] = atom;
  return atom_form(atom);
}

int32_t Terms::as_atom(const Form& form) {
  if (form.constant == 0 && form.terms.size() == 1 && form.terms[0].times == 1)
    return form.terms[0].atom;
  const auto known = named_.find(form);
  if (known != named_.end()) return known->second;
  const int32_t atom = add_atom(range_of(form), depends_of(form));
  define(atom, {{equal_to(sum(form, atom_form(atom), -1), 0)}});
  named_.emplace(form, atom);
  return atom;
}

std::pair<Form, Form> Terms::divided(const Form& form, Int128 d) {
  if (d == 1) return {form, number_form(0)};
  // form = d * whole + rest
  Form whole = number_form(floor_div(form.constant, d));
  Form rest = number_form(form.constant - d * whole.constant);
  for (const Form::Term& t : form.terms) {
    if (t.times % d == 0) {
      whole.terms.push_back({t.atom, t.times / d});
    } else {
      rest.terms.push_back(t);
    }
  }
  const Interval range = range_of(rest);
  if (range.is_within(0, d - 1)) return {whole, rest};
  const auto key = std::tuple(rest, d);
  auto known = quotients_.find(key);
  if (known == quotients_.end()) {
    const Dims dims = depends_of(rest);
    const int32_t q = add_atom({floor_div(range.lo, d), floor_div(range.hi, d)}, dims);
    const int32_t r = add_atom({0, d - 1}, dims);
    const Form parts = sum(scaled(atom_form(q), d), atom_form(r));
    const int32_t number = define(q, {{equal_to(sum(rest, parts, -1), 0)}});
    atoms_[static_cast<size_t>(r)].definition = number;
    known = quotients_.emplace(key, std::pair(q, r)).first;
  }
  return {sum(whole, atom_form(known->second.first)), atom_form(known->second.second)};
}

std::pair<Form, Form> Terms::divided(const Form& n, const Form& d) {
  if (d.is_constant()) return divided(n, d.constant);
  const auto key = std::pair(n, d);
  auto known = symbolic_quotients_.find(key);
  if (known == symbolic_quotients_.end()) {
    const Dims dims = depends_of(n) | depends_of(d);
    const Interval range = range_of(n);
    const Interval by = range_of(d);
    const Interval q_range = {floor_div(range.lo, range.lo < 0 ? by.lo : by.hi),
                              floor_div(range.hi, range.hi < 0 ? by.hi : by.lo)};
    const int32_t q = add_atom(q_range, dims);
    const int32_t r = add_atom({0, by.hi - 1}, dims);
    const Form product = exact_product(atom_form(q), d);
    const Form rest = sum(sum(n, product, -1), atom_form(r), -1);
    const int32_t number = define(r, {{equal_to(rest, 0), at_least(sum(d, atom_form(r), -1), 1)}});
    atoms_[static_cast<size_t>(q)].definition = number;
    known = symbolic_quotients_.emplace(key, std::pair(q, r)).first;
  }
  return {atom_form(known->second.first), atom_form(known->second.second)};
}

Form Terms::exact_product(const Form& a, const Form& b) {
  if (a.is_constant()) return scaled(b, a.constant);
  if (b.is_constant()) return scaled(a, b.constant);
  int32_t x = as_atom(a);
  int32_t y = as_atom(b);
  if (x > y) std::swap(x, y);
  const auto known = products_.find({x, y});
  if (known != products_.end()) return atom_form(known->second);
  const Interval p = atom(x).range;
  const Interval q = atom(y).range;
  const Int128 ends[] = {p.lo * q.lo, p.lo * q.hi, p.hi * q.lo, p.hi * q.hi};
  const int32_t product =
      add_atom({*std::ranges::min_element(ends), *std::ranges::max_element(ends)},
               atom(x).depends | atom(y).depends);
  definitions_.push_back({{{}}, std::array<int32_t, 3>{product, x, y}});
  atoms_[static_cast<size_t>(product)].definition = static_cast<int32_t>(definitions_.size()) - 1;
  products_.emplace(std::pair(x, y), product);
  return atom_form(product);
}

Form Terms::wrapped(Form exact, DType t) {
  const Interval range = range_of(exact);
  if (range.is_within(uop::min_int(t), uop::max_int(t))) return exact;
  const Int128 modulus = Int128{1} << uop::bits_of(t);
  const Dims dims = depends_of(exact);
  const int32_t value = add_atom({uop::min_int(t), uop::max_int(t)}, dims);
  const int32_t turns = add_atom({floor_div(range.lo - uop::min_int(t), modulus),
                                  floor_div(range.hi - uop::min_int(t), modulus)},
                                 dims);
  const Form parts = sum(atom_form(value), scaled(atom_form(turns), modulus));
  define(value, {{equal_to(sum(exact, parts, -1), 0)}});
  return atom_form(value);
}

Form Terms::selected(const Cases& first, const Form& a, const Cases& second, const Form& b) {
  const Interval p = range_of(a);
  const Interval q = range_of(b);
  Dims dims = depends_of(a) | depends_of(b);
  const int32_t value = add_atom({std::min(p.lo, q.lo), std::max(p.hi, q.hi)}, 0);
  Cases cases;
  const auto add = [&](const Cases& when, const Form& form) {
    for (Case c : when) {
      for (const Within& w : c) dims |= depends_of(w.form);
      c.push_back(equal_to(sum(form, atom_form(value), -1), 0));
      cases.push_back(std::move(c));
    }
  };
  add(first, a);
  add(second, b);
  atoms_[static_cast<size_t>(value)].depends = dims;
  define(value, std::move(cases));
  return atom_form(value);
}

}  // namespace assay::props::kernel
