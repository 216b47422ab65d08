#include "props/rules/rule_claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/walk.h"
#include "props/rules/guard.h"
#include "props/rules/meaning.h"

namespace assay::props {
namespace {

using uop::Bool;
using uop::DType;
using uop::Graph;
using uop::info;
using uop::Op;
using uop::Pat;
using uop::Ref;
using uop::TypeSet;
using What = Pat::What;
// Operands of both are called Typing in op.h.
using OpTyping = uop::Typing;

// Choices made again and again, each time another way, until all ways have been taken.
class Odometer {
 public:
  size_t pick(size_t count) {
    if (at_ == wheels_.size()) wheels_.push_back({0, count});
    return wheels_[at_++].now;
  }
  bool advance() {
    at_ = 0;
    while (!wheels_.empty() && wheels_.back().now + 1 == wheels_.back().count) wheels_.pop_back();
    if (wheels_.empty()) return false;
    wheels_.back().now++;
    return true;
  }

 private:
  struct Wheel {
    size_t now, count;
  };
  std::vector<Wheel> wheels_;
  size_t at_ = 0;
};

// Gives each part of a pattern a type, from its place or by choice.
class Typist {
 public:
  explicit Typist(Odometer& odometer) : odometer_(odometer) {}

  // Whether `match` can have these types, with `over` what the rule's `over` speaks of.
  bool type(const Pat& match, DType over, Typing& typing) {
    const OpTyping kind = info(match->op).typing;
    bool fits = true;
    if (kind == OpTyping::Convert) {
      typing.root = match->type != DType::Void ? match->type : choose(uop::kScalars);
      fits = place(match->args[0], over);
    } else {
      typing.root = kind == OpTyping::Compare ? Bool : over;
      typing.operands = over;
      fits = operands(match, typing.root, over);
    }
    for (const std::string_view name : uop::hole_names(match)) {
      for (const auto& [hole, t] : known_) {
        if (hole == name) typing.holes.emplace_back(name, t);
      }
    }
    return fits;
  }

 private:
  DType choose(TypeSet types) {
    std::vector<DType> all;
    for (int i = 0; i < uop::kDTypeCount; i++) {
      if (types.has(DType(i))) all.push_back(DType(i));
    }
    return all.empty() ? DType::Void : all[odometer_.pick(all.size())];
  }

  const DType* known(std::string_view name) const {
    for (const auto& [hole, t] : known_) {
      if (hole == name) return &t;
    }
    return nullptr;
  }

  TypeSet types_of(const Pat& pat) const {
    if (pat->what == What::Hole || pat->what == What::Constant) {
      const DType* t = known(pat->name);
      return t == nullptr ? pat->over : TypeSet{*t};
    }
    if (pat->what != What::Apply) return uop::kScalars;
    const OpTyping kind = info(pat->op).typing;
    if (kind == OpTyping::Compare) return uop::kBool;
    if (kind == OpTyping::Convert) {
      return pat->type != DType::Void ? TypeSet{pat->type} : uop::kScalars;
    }
    TypeSet types = info(pat->op).over;
    for (size_t i = pat->op == Op::Where ? 1 : 0; i < pat->args.size(); i++) {
      types = types & types_of(pat->args[i]);
    }
    return types;
  }

  bool place(const Pat& pat, DType t) {
    if (t == DType::Void) return false;
    if (pat->what == What::Hole || pat->what == What::Constant) {
      if (const DType* other = known(pat->name)) return *other == t;
      if (!pat->over.has(t)) return false;
      known_.emplace_back(pat->name, t);
      return true;
    }
    if (pat->what != What::Apply) return true;
    const OpTyping kind = info(pat->op).typing;
    if (kind == OpTyping::Compare && t != Bool) return false;
    if (kind == OpTyping::Convert && pat->type != DType::Void && pat->type != t) return false;
    if (kind != OpTyping::Compare && kind != OpTyping::Convert) return operands(pat, t, t);
    TypeSet types = kind == OpTyping::Compare ? info(pat->op).over : uop::kScalars;
    for (const Pat& arg : pat->args) types = types & types_of(arg);
    return operands(pat, t, choose(types));
  }

  bool operands(const Pat& pat, DType own, DType t) {
    if (!pat->args.empty() &&
        !info(pat->op).over.has(info(pat->op).typing == OpTyping::Compare ? t : own)) {
      return false;
    }
    for (size_t i = 0; i < pat->args.size(); i++) {
      if (!place(pat->args[i], pat->op == Op::Where && i == 0 ? Bool : t)) return false;
    }
    return true;
  }

  Odometer& odometer_;
  std::vector<std::pair<std::string_view, DType>> known_;
};

bool is_ill_typed(Graph& g, Ref root) {
  for (const Ref u : uop::toposort(g, root)) {
    if (!uop::is_scalar(u->op)) continue;
    const OpTyping kind = info(u->op).typing;
    const DType t = kind == OpTyping::Compare ? u->src[0]->dtype : u->dtype;
    if (!info(u->op).over.has(t)) return true;
    if (kind == OpTyping::Convert) continue;
    for (size_t i = 0; i < u->src.size(); i++) {
      if (u->src[i]->dtype != (u->op == Op::Where && i == 0 ? Bool : t)) return true;
    }
  }
  return false;
}

// Whether the rewriter folds a part: it holds constants only.
bool is_folded(const Pat& pat) {
  if (pat->what == What::Hole) return false;
  if (pat->what != What::Apply) return true;
  return !pat->args.empty() && std::all_of(pat->args.begin(), pat->args.end(), is_folded);
}

bool is_unread_hole(const Pat& pat, std::string_view name) {
  if (pat->what == What::Hole && pat->name == name) return pat->unread;
  return std::any_of(pat->args.begin(), pat->args.end(),
                     [&](const Pat& arg) { return is_unread_hole(arg, name); });
}

bool is_constant_hole(const Pat& pat, std::string_view name) {
  if (pat->what == What::Constant && pat->name == name) return true;
  return std::any_of(pat->args.begin(), pat->args.end(),
                     [&](const Pat& arg) { return is_constant_hole(arg, name); });
}

}  // namespace

std::vector<Typing> typings(const uop::Rule& rule, DType over) {
  std::vector<Typing> all;
  Odometer odometer;
  do {
    Typing typing;
    if (Typist(odometer).type(rule.match, over, typing)) all.push_back(std::move(typing));
  } while (odometer.advance());
  return all;
}

RuleClaim::RuleClaim(const uop::Rule& rule, const Typing& typing) {
  if (const auto predicate = unknown_predicate(rule.when)) {
    state_ = State::Unknown;
    why_ = fmt::format("predicate {}", *predicate);
    return;
  }
  add_leaves(rule, typing);
  if (leaves_.size() > static_cast<size_t>(uop::kMaxHoles)) {
    state_ = State::Unknown;
    why_ = "too many holes and bounds";
    return;
  }
  if (!build(rule, typing)) return;
  claim_->leaves = leaves_;
  claim_->is_real = rule.claim == uop::Claim::Real;
  if (!rule.when.empty()) add_guard(rule);
}

std::string_view RuleClaim::kept(std::string name) {
  names_.push_back(std::move(name));
  return names_.back();
}

size_t RuleClaim::place_of(std::string_view name) const {
  const auto at = std::find(holes_.begin(), holes_.end(), name);
  ASSAY_CHECK(at != holes_.end(), "{} is no hole of the match", name);
  return static_cast<size_t>(at - holes_.begin());
}

// A hole that the replacement forgets cannot be Invalid, unless the match does not read it.
void RuleClaim::add_leaves(const uop::Rule& rule, const Typing& typing) {
  const std::vector<std::string_view> after = uop::hole_names(rule.replace);
  for (const auto& [name, t] : typing.holes) {
    holes_.push_back(name);
    smt::Claim::Leaf leaf = {g_.variable(name, t)};
    if (!is_constant_hole(rule.match, name)) {
      const bool is_kept = std::find(after.begin(), after.end(), name) != after.end();
      leaf.may_be_unspecified = true;
      leaf.may_be_invalid = is_kept || is_unread_hole(rule.match, name);
    }
    leaves_.push_back(leaf);
  }
  add_ends(rule.replace);
  if (!rule.when.empty()) add_ends(rule.when);
}

// lo(x) and hi(x) are any two numbers of x's type that x lies between, or infinite.
void RuleClaim::add_ends(const Pat& pat) {
  if (pat->what != What::Lo && pat->what != What::Hi) {
    for (const Pat& arg : pat->args) add_ends(arg);
    return;
  }
  const std::string name = leaf_name(pat);
  if (std::find(holes_.begin(), holes_.end(), name) != holes_.end()) return;
  const size_t of = place_of(pat->args[0]->name);
  const DType t = leaves_[of].u->dtype;
  holes_.push_back(kept(name));
  smt::Claim::Leaf leaf = {g_.variable(holes_.back(), t)};
  leaf.may_be_unspecified = !uop::is_fixed_int(t) && t != Bool;
  (pat->what == What::Lo ? leaf.least_of : leaf.most_of) = static_cast<int>(of);
  leaves_.push_back(leaf);
}

// The pattern with its constants and bounds as holes, so that nothing but literals is folded, in a
// place of a type. A conversion without a type of its own has that of its place, which is
// `operands` where it is compared.
Pat RuleClaim::opened(const Pat& pat, DType type, DType operands) {
  switch (pat->what) {
    case What::Constant: return uop::any(pat->name, pat->over);
    case What::Lo:
    case What::Hi: return uop::any(holes_[place_of(leaf_name(pat))]);
    case What::Apply: break;
    default: return pat;
  }
  const OpTyping kind = info(pat->op).typing;
  const DType place = kind == OpTyping::Compare   ? operands
                      : kind == OpTyping::Convert ? DType::Void
                                                  : type;
  std::vector<Pat> args;
  for (size_t i = 0; i < pat->args.size(); i++) {
    const bool is_condition = pat->op == Op::Where && i == 0;
    args.push_back(opened(pat->args[i], is_condition ? Bool : place, DType::Void));
  }
  const Pat result(pat->op, std::move(args));
  const DType own = kind == OpTyping::Convert && pat->type == DType::Void ? type : pat->type;
  return own == DType::Void ? result : result.as(own);
}

bool RuleClaim::build(const uop::Rule& rule, const Typing& typing) {
  uop::Match match;
  for (size_t i = 0; i < leaves_.size(); i++) match.holes[i] = leaves_[i].u;
  const auto made = [&](const Pat& pat) {
    return uop::Builder(pat, holes_).build(g_, match, typing.root);
  };
  const Ref before = made(opened(rule.match, typing.root, typing.operands));
  const Ref after = made(opened(rule.replace, DType::Void, DType::Void));
  if (before == nullptr || after == nullptr) {
    state_ = State::NeverFires;
    return false;
  }
  if (after->dtype != before->dtype || is_ill_typed(g_, after)) {
    state_ = State::IllTyped;
    why_ = fmt::format("the replacement is no term of {}", uop::to_text(before->dtype));
    return false;
  }
  claim_.emplace(smt::Claim{g_, before, after, {}});
  add_valued(rule.replace, after);
  return true;
}

// The parts that the rewriter folds when it builds a replacement: without a value it does not fire.
void RuleClaim::add_valued(const Pat& pat, Ref u) {
  if (pat->what != What::Apply || uop::is_const(u)) return;
  if (is_folded(pat)) {
    claim_->valued.push_back(u);
    return;
  }
  for (size_t i = 0; i < pat->args.size(); i++) add_valued(pat->args[i], u->src[i]);
}

// What a guard says of a constant alone is what the constant may be.
void RuleClaim::add_guard(const uop::Rule& rule) {
  for (const Pat& part : guard_parts(rule.when)) {
    if (part->what != What::Test) continue;
    const Meaning& meaning = *meaning_of(part->predicate->name);
    smt::Claim::Leaf& leaf = claim_->leaves[place_of(part->args[0]->name)];
    if (meaning.says == Meaning::Says::IsOneOf && !leaf.may_be_unspecified) {
      leaf.values = meaning.values(leaf.u->dtype);
      if (leaf.values.empty()) state_ = State::NeverFires;
    }
    if (meaning.says == Meaning::Says::NotInvalid) leaf.may_be_invalid = false;
    if (meaning.says == Meaning::Says::NotUnspecified) leaf.may_be_unspecified = false;
  }
  std::vector<Ref> refs;
  for (const smt::Claim::Leaf& leaf : leaves_) refs.push_back(leaf.u);
  const auto guard = std::make_shared<const Guard>(
      rule.when, [this](std::string_view name) { return place_of(name); }, std::move(refs));
  claim_->condition =
      smt::Condition{[guard](std::span<const uop::Cell> point) { return guard->holds(point); },
                     [guard](smt::Encoder& encoder) { return guard->encode(encoder); }};
}

}  // namespace assay::props
