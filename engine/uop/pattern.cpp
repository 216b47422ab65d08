#include "engine/uop/pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"

namespace assay::uop {
namespace {

Pat apply(Op op, const Pat& a, const Pat& b) { return Pat(op, {a, b}); }

std::string apply_to_text(const Pat& pat) {
  std::string text = fmt::format("({}", info(pat->op).symbol);
  if (pat->type != DType::Void) text += fmt::format(":{}", to_text(pat->type));
  for (const Pat& arg : pat->args) text += " " + to_text(arg);
  return text + ")";
}

void collect_holes(const Pat& pat, std::vector<std::string_view>& names) {
  const Pat::What what = pat->what;
  if (what == Pat::What::Hole || what == Pat::What::Constant) {
    if (std::find(names.begin(), names.end(), pat->name) == names.end()) names.push_back(pat->name);
  }
  for (const Pat& arg : pat->args) collect_holes(arg, names);
}

}  // namespace

Pat::Pat(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

Pat::Pat(int64_t literal) {
  Node node;
  node.what = What::Literal;
  node.literal = literal;
  *this = Pat(std::move(node));
}

Pat::Pat(Op op, std::vector<Pat> args) {
  Node node;
  node.what = What::Apply;
  node.op = op;
  node.args = std::move(args);
  *this = Pat(std::move(node));
}

Pat Pat::as(DType t) const {
  Node node = *node_;
  node.type = t;
  return Pat(std::move(node));
}

Pat any(std::string_view name, TypeSet over) {
  Pat::Node node;
  node.what = Pat::What::Hole;
  node.name = name;
  node.over = over;
  return Pat(std::move(node));
}

Pat unread(std::string_view name) {
  Pat::Node node;
  node.what = Pat::What::Hole;
  node.name = name;
  node.unread = true;
  return Pat(std::move(node));
}

Pat constant(std::string_view name, TypeSet over) {
  Pat::Node node;
  node.what = Pat::What::Constant;
  node.name = name;
  node.over = over;
  return Pat(std::move(node));
}

Pat lo(const Pat& hole) {
  Pat::Node node;
  node.what = Pat::What::Lo;
  node.args = {hole};
  return Pat(std::move(node));
}

Pat hi(const Pat& hole) {
  Pat::Node node;
  node.what = Pat::What::Hi;
  node.args = {hole};
  return Pat(std::move(node));
}

Pat test(const Predicate& predicate, std::vector<Pat> holes) {
  Pat::Node node;
  node.what = Pat::What::Test;
  node.predicate = &predicate;
  node.args = std::move(holes);
  return Pat(std::move(node));
}

Pat operator+(const Pat& a, const Pat& b) { return apply(Op::Add, a, b); }
Pat operator-(const Pat& a, const Pat& b) { return apply(Op::Sub, a, b); }
Pat operator*(const Pat& a, const Pat& b) { return apply(Op::Mul, a, b); }
Pat operator/(const Pat& a, const Pat& b) { return apply(Op::Div, a, b); }
Pat operator%(const Pat& a, const Pat& b) { return apply(Op::Mod, a, b); }
Pat operator<(const Pat& a, const Pat& b) { return apply(Op::Lt, a, b); }
Pat operator<=(const Pat& a, const Pat& b) { return !(b < a); }
Pat operator>(const Pat& a, const Pat& b) { return b < a; }
Pat operator>=(const Pat& a, const Pat& b) { return !(a < b); }
Pat operator==(const Pat& a, const Pat& b) { return apply(Op::Eq, a, b); }
Pat operator!=(const Pat& a, const Pat& b) { return apply(Op::Ne, a, b); }
Pat operator&&(const Pat& a, const Pat& b) { return apply(Op::And, a, b); }
Pat operator||(const Pat& a, const Pat& b) { return apply(Op::Or, a, b); }
Pat operator!(const Pat& a) { return Pat(Op::Not, {a}); }
Pat min(const Pat& a, const Pat& b) { return apply(Op::Min, a, b); }
Pat max(const Pat& a, const Pat& b) { return apply(Op::Max, a, b); }
Pat where(const Pat& c, const Pat& a, const Pat& b) { return Pat(Op::Where, {c, a, b}); }
Pat cast(const Pat& a) { return Pat(Op::Cast, {a}); }
Pat invalid() { return Pat(Op::Invalid, {}); }

std::string to_text(const Pat& pat) {
  switch (pat->what) {
    case Pat::What::Nothing: return "";
    case Pat::What::Hole: return std::string(pat->name);
    case Pat::What::Constant: return fmt::format("#{}", pat->name);
    case Pat::What::Literal: return fmt::format("{}", pat->literal);
    case Pat::What::Lo: return fmt::format("(lo {})", to_text(pat->args[0]));
    case Pat::What::Hi: return fmt::format("(hi {})", to_text(pat->args[0]));
    case Pat::What::Test: {
      std::string text = fmt::format("({}", pat->predicate->name);
      for (const Pat& arg : pat->args) text += " " + to_text(arg);
      return text + ")";
    }
    case Pat::What::Apply: break;
  }
  return pat->args.empty() ? std::string(info(pat->op).symbol) : apply_to_text(pat);
}

std::vector<std::string_view> hole_names(const Pat& pat) {
  std::vector<std::string_view> names;
  collect_holes(pat, names);
  ASSAY_CHECK(names.size() <= kMaxHoles, "{} has more than {} holes", to_text(pat), kMaxHoles);
  return names;
}

}  // namespace assay::uop
