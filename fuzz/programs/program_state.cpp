#include <cmath>

#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {

using tensor::Literal;
using tensor::Op;

// What a write changes shows in all that names the storage.
void ProgramMaker::learn(const Known& target, const Known* source, double lo, double hi) {
  const bool is_exact = source == nullptr || source->is_exact;
  const bool is_special = source != nullptr && source->is_special;
  const bool depends = target.depends || (source != nullptr && source->depends);
  const DType t = target.dtype;
  for (Known& k : known_) {
    if (k.base != target.base) continue;
    k.depends = k.depends || depends;
    k.is_exact = k.is_exact && is_exact;
    if (k.dtype == t) {
      settle(k, std::min(k.lo, lo), std::max(k.hi, hi));
      k.is_special = k.is_special || is_special;
      continue;
    }
    // Its bits are another type's: nothing is known of what it is now.
    settle(k, least_of(k.dtype), most_of(k.dtype));
    k.is_special = k.is_float();
    k.is_gone = k.is_gone || !is_exact || is_special;
  }
}

void ProgramMaker::write_to(const Known& target) {
  if (c.chance(1, 4)) {
    const Literal l = number(target.dtype, -4, 9);
    const double x = l.kind == Literal::Kind::Float ? l.real : static_cast<double>(l.integer);
    say(tensor::Write{target.value, of(l)});
    return learn(target, nullptr, x, x);
  }
  const bool must_define = program_.define(target.value).op == Op::Undefined;
  Dims joined;
  const Known* source = find([&](const Known& k) {
    if (k.dtype != target.dtype || k.is_away != target.is_away) return false;
    if (k.value == target.value && (must_define || !c.chance(1, 8))) return false;
    return broadcast(target.shape, k.shape, joined) && joined == target.shape;
  });
  if (source == nullptr) {
    Dims shape = target.shape;
    for (size_t i = 0; i < shape.rank(); i++) {
      if (c.chance(1, 4)) shape[i] = Dim{1, -1};
    }
    if (!broadcast(target.shape, shape, joined) || joined != target.shape) shape = target.shape;
    source = input_beside(target, target.dtype, shape, uop::is_unsigned(target.dtype) ? 0 : -4,
                          target.dtype == DType::Bool ? 1 : 4);
  }
  if (source == nullptr) {
    say(tensor::Write{target.value, of(number(target.dtype, 0, 1))});
    return learn(target, nullptr, 0, 1);
  }
  say(tensor::Write{target.value, of(*source)});
  learn(target, source, source->lo, source->hi);
}

void ProgramMaker::write() {
  const bool wants_view = c.chance(2, 3);
  const Known* target = find([&](const Known& k) { return !wants_view || k.base != k.value; });
  if (target == nullptr) target = find([](const Known&) { return true; });
  if (target != nullptr) write_to(*target);
}

void ProgramMaker::force() {
  tensor::Force f;
  const uint64_t wanted = 1 + c.below(3);
  for (uint64_t i = 0; i < wanted; i++) {
    const Known* k = find([&](const Known& x) {
      return std::ranges::find(f.values, x.value) == f.values.end() || c.chance(1, 16);
    });
    if (k != nullptr) f.values.push_back(k->value);
  }
  if (!f.values.empty()) say(std::move(f));
}

// Before a variable has another value, what still depends on the old one is computed; what has it
// in its shape, or names a place by it, is not used again.
void ProgramMaker::bind() {
  if (!has_variable()) return;
  const auto stays = [](const Known& k) {
    return !k.is_gone && (!k.depends || (k.shape.is_number() && k.value == k.base));
  };
  if (std::ranges::none_of(known_, stays)) return;  // there would be nothing to ask for
  tensor::Force f;
  for (Known& k : known_) {
    if (k.is_gone || !k.depends) continue;
    if (!k.shape.is_number() || k.value != k.base) {
      k.is_gone = true;
      continue;
    }
    f.values.push_back(k.value);
    k.depends = false;
  }
  if (!f.values.empty()) say(std::move(f));
  const int32_t v = a_variable();
  const int64_t now = c.between(variable(v).lo, variable(v).hi);
  bound_[static_cast<size_t>(v)] = now;
  say(tensor::Bind{v, now});
  must_force_ = true;
}

// Ends with the last values forced, or with nothing, which asks for all that nobody uses.
tensor::Program ProgramMaker::finish() {
  const bool has_forces = std::ranges::any_of(program_.statements, [](const auto& s) {
    return std::holds_alternative<tensor::Force>(s.what);
  });
  if (has_forces || must_force_ || c.chance(1, 4)) {
    tensor::Force f;
    for (auto k = known_.rbegin(); k != known_.rend() && f.values.size() < 4; ++k) {
      if (!k->is_gone && c.chance(3, 4)) f.values.push_back(k->value);
    }
    if (must_force_ && f.values.empty()) {
      const auto last =
          std::find_if(known_.rbegin(), known_.rend(), [](const Known& k) { return !k.is_gone; });
      if (last != known_.rend()) f.values.push_back(last->value);
    }
    for (size_t i = f.values.size(); i > 1; i--) std::swap(f.values[i - 1], f.values[c.below(i)]);
    if (!f.values.empty()) say(std::move(f));
  }
  return std::move(program_);
}

}  // namespace assay::fuzz
