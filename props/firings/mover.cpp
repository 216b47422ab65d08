#include "props/firings/mover.h"

#include <algorithm>

#include "engine/uop/key.h"

namespace assay::props {

using smt::Term;
using uop::Int128;
using uop::Op;
using uop::Ref;

namespace {

// A size of which nothing is known is not larger.
constexpr int64_t kLargestUnknown = int64_t{1} << 40;

}  // namespace

Term Mover::term(Ref size) {
  if (uop::is_const(size)) return f_.integer(uop::as_int(size->value()));
  if (size->op == Op::Bind) return term(size->src[0]);
  if (size->op == Op::Variable && size->arg.numbers().size() == 2) {
    const auto ends = size->arg.numbers();
    const Int128 lo = uop::as_int({size->dtype, static_cast<uint64_t>(ends[0])});
    const Int128 hi = uop::as_int({size->dtype, static_cast<uint64_t>(ends[1])});
    variables_.emplace(std::string(size->arg.name()), size);
    return f_.bounded(size->arg.name(), lo, hi);
  }
  std::vector<Term> sources;
  for (const Ref s : size->src) sources.push_back(term(s));
  const auto pick = [&](bool larger) {
    const Term less = f_.lt(sources[0], sources[1]);
    return larger ? f_.ite(less, sources[1], sources[0]) : f_.ite(less, sources[0], sources[1]);
  };
  switch (size->op) {
    case Op::Add: return f_.add(sources[0], sources[1]);
    case Op::Sub: return f_.sub(sources[0], sources[1]);
    case Op::Mul: return f_.mul(sources[0], sources[1]);
    case Op::Div: return f_.make(smt::Fn::Div, {sources[0], sources[1]});
    case Op::Mod: return f_.make(smt::Fn::Mod, {sources[0], sources[1]});
    case Op::Max: return pick(true);
    case Op::Min: return pick(false);
    default: return f_.bounded("size " + uop::to_text(uop::key(g_, size)), 0, kLargestUnknown);
  }
}

// What a movement makes of its source's sizes, and when it is well-formed.
Term Mover::size_step(Ref u, std::vector<Term>& sizes) {
  const Term zero = f_.integer(0);
  Term fine = f_.truth(true);
  const std::vector<Term> amounts = terms(u->src.subspan(1));
  const std::vector<Term> before = sizes;
  switch (u->op) {
    case Op::Reshape:
      sizes = amounts;
      for (const Term s : sizes) fine = f_.both(fine, f_.le(zero, s));
      return f_.both(fine, f_.equal(product(before), product(sizes)));
    case Op::Expand:
      sizes = amounts;
      if (before.size() > sizes.size()) return f_.truth(false);
      for (size_t i = 0; i < before.size(); i++) {
        const Term to = sizes[i + sizes.size() - before.size()];
        const Term one = f_.equal(before[i], f_.integer(1));
        const Term same = f_.equal(before[i], to);
        fine = f_.both(fine, f_.either(same, one));
      }
      for (const Term s : sizes) fine = f_.both(fine, f_.le(zero, s));
      return fine;
    case Op::Permute: {
      const auto order = u->arg.numbers();
      std::vector<int64_t> axes(order.begin(), order.end());
      std::sort(axes.begin(), axes.end());
      if (axes.size() != before.size()) return f_.truth(false);
      for (size_t i = 0; i < axes.size(); i++) {
        if (axes[i] != static_cast<int64_t>(i)) return f_.truth(false);
        sizes[i] = before[static_cast<size_t>(order[i])];
      }
      return fine;
    }
    case Op::Flip: return fine;
    default: break;
  }
  if (amounts.size() != 2 * before.size()) return f_.truth(false);
  for (size_t i = 0; i < before.size(); i++) {
    const Term first = amounts[2 * i];
    const Term second = amounts[2 * i + 1];
    const Term first_fits = f_.le(zero, first);
    const Term second_fits = f_.le(zero, second);
    fine = all({fine, first_fits, second_fits});
    const Term end = f_.add(first, second);
    if (u->op == Op::Pad) {
      sizes[i] = f_.add(end, before[i]);
    } else {
      fine = f_.both(fine, f_.le(end, before[i]));
      sizes[i] = second;
    }
  }
  return fine;
}

Mover::Moved Mover::moved(std::span<const Ref> chain, const std::vector<Term>& base) {
  Moved result = {base, f_.truth(true), {}};
  for (size_t i = chain.size(); i-- > 0;) {
    result.steps.insert(result.steps.begin(), result.sizes);
    const Term fine = size_step(chain[i], result.sizes);
    result.well_formed = f_.both(result.well_formed, fine);
  }
  return result;
}

Term Mover::flattened(const std::vector<Term>& at, const std::vector<Term>& sizes) {
  Term flat = f_.integer(0);
  for (size_t i = 0; i < at.size(); i++) {
    const Term rows = f_.mul(flat, sizes[i]);
    flat = f_.add(rows, at[i]);
  }
  return flat;
}

std::vector<Term> Mover::unflattened(Term flat, const std::vector<Term>& sizes) {
  std::vector<Term> at(sizes.size());
  Term stride = f_.integer(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    const Term row = f_.make(smt::Fn::Div, {flat, stride});
    at[i] = i == 0 ? row : f_.make(smt::Fn::Mod, {row, sizes[i]});
    stride = f_.mul(stride, sizes[i]);
  }
  return at;
}

// From a place in what u makes to one in its source.
void Mover::place_step(Ref u, const std::vector<Term>& from, const std::vector<Term>& to,
                       Place& place) {
  if (u->op == Op::Reshape) {
    if (!place.is_flat) place.flat = flattened(place.at, to);
    place.is_flat = true;
    return;
  }
  if (place.is_flat) place.at = unflattened(place.flat, to);
  place.is_flat = false;
  const std::vector<Term> at = place.at;
  const std::vector<Term> amounts = terms(u->src.subspan(1));
  const Term zero = f_.integer(0);
  place.at.assign(from.size(), zero);
  for (size_t i = 0; i < from.size(); i++) {
    switch (u->op) {
      case Op::Expand: {
        const size_t axis = i + to.size() - from.size();
        const Term repeats = f_.equal(from[i], f_.integer(1));
        place.at[i] = from[i] == to[axis] ? at[axis] : f_.ite(repeats, zero, at[axis]);
        break;
      }
      case Op::Permute: place.at[static_cast<size_t>(u->arg.numbers()[i])] = at[i]; break;
      case Op::Pad: {
        place.at[i] = f_.sub(at[i], amounts[2 * i]);
        const Term from_start = f_.le(zero, place.at[i]);
        const Term to_end = f_.lt(place.at[i], from[i]);
        place.valid = all({place.valid, from_start, to_end});
        break;
      }
      case Op::Shrink: place.at[i] = f_.add(at[i], amounts[2 * i]); break;
      default: place.at[i] = at[i]; break;
    }
  }
  if (u->op != Op::Flip) return;
  for (const int64_t axis : u->arg.numbers()) {
    const auto i = static_cast<size_t>(axis);
    const Term last = f_.sub(from[i], f_.integer(1));
    place.at[i] = f_.sub(last, at[i]);
  }
}

Mover::Place Mover::place(std::span<const Ref> chain, const Moved& moved,
                          const std::vector<Term>& at) {
  Place place = {at, {}, false, f_.truth(true)};
  for (size_t i = 0; i < chain.size(); i++) {
    const std::vector<Term>& to = i == 0 ? moved.sizes : moved.steps[i - 1];
    place_step(chain[i], moved.steps[i], to, place);
  }
  return place;
}

}  // namespace assay::props
