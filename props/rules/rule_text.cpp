#include "props/rules/rule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "engine/uop/rules/predicates.h"
#include "props/rules/guard.h"
#include "props/rules/meaning.h"
#include "props/rules/rule_scan.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Op;
using uop::Pat;
using uop::TypeSet;
using What = Pat::What;
using Parsed = Result<Pat>;

const uop::Predicate* predicate_named(std::string_view name) {
  for (const uop::Predicate* p :
       {&uop::kIsMinusZero, &uop::kIsPowerOfTwo, &uop::kIsLowest, &uop::kIsHighest,
        &uop::kNeverInvalid, &uop::kNeverUnspecified, &uop::kIsNoConstant, &uop::kIsNotInvalid}) {
    if (p->name == name) return p;
  }
  return nullptr;
}

std::optional<TypeSet> types_named(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    TypeSet types;
  } kSets[] = {
      {"ints", uop::kInts},       {"floats", uop::kFloats},     {"bools", uop::kBool},
      {"signed", uop::kSigned},   {"unsigned", uop::kUnsigned}, {"numbers", uop::kNumbers},
      {"scalars", uop::kScalars}, {"logic", uop::kLogic},       {"fixed_ints", uop::kFixedInts}};
  for (const auto& set : kSets) {
    if (set.name == name) return set.types;
  }
  const std::optional<DType> type = uop::dtype_from_text(name);
  if (!type || *type == DType::Void) return std::nullopt;
  return TypeSet{*type};
}

struct Binary {
  std::string_view text;
  int level;  // binds tighter the higher
  Op op;
  bool swaps = false;    // a > b is b < a
  bool negates = false;  // a <= b is not (b < a)
  bool is_of_guards = true;
};

constexpr Binary kBinaries[] = {
    {"||", 1, Op::Or},
    {"&&", 2, Op::And},
    {"|", 3, Op::Or, false, false, false},
    {"^", 4, Op::Xor, false, false, false},
    {"&", 5, Op::And, false, false, false},
    {"==", 6, Op::Eq},
    {"!=", 6, Op::Ne},
    {"<", 7, Op::Lt},
    {"<=", 7, Op::Lt, true, true},
    {">", 7, Op::Lt, true, false},
    {">=", 7, Op::Lt, false, true},
    {"<<", 8, Op::Shl, false, false, false},
    {">>", 8, Op::Shr, false, false, false},
    {"+", 9, Op::Add},
    {"-", 9, Op::Sub},
    {"*", 10, Op::Mul},
    {"/", 10, Op::Div},
    {"%", 10, Op::Mod},
    {"tdiv", 10, Op::TDiv, false, false, false},
    {"tmod", 10, Op::TMod, false, false, false},
};

const Binary* binary_named(std::string_view text) {
  const auto* at = std::find_if(std::begin(kBinaries), std::end(kBinaries),
                                [&](const Binary& b) { return b.text == text; });
  return at == std::end(kBinaries) ? nullptr : at;
}

std::optional<Op> function_named(std::string_view name) {
  for (int i = 0; i < uop::kOpCount; i++) {
    const Op op = static_cast<Op>(i);
    if (uop::is_scalar(op) && uop::to_text(op) == name) return op;
  }
  return std::nullopt;
}

class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : scan_(text), made_(std::make_unique<TextRule>()) {}

  Result<std::unique_ptr<TextRule>> run() {
    uop::Rule& rule = made_->rule;
    rule.name = kept("rule");
    if (const auto name = scan_.label()) rule.name = kept(std::string(*name));
    find_constants();
    const size_t start = scan_.offset();
    ASSAY_TRY(match, expression(1));
    if (match->what != What::Apply) return scan_.error_at(start, "the match is no operation");
    if (nodes_of(match) > static_cast<size_t>(uop::kMaxRegisters)) {
      return scan_.error_at(start, "the match is too large");
    }
    if (all_names(match).size() > static_cast<size_t>(uop::kMaxHoles)) {
      return scan_.error_at(start, "the match has too many holes");
    }
    if (const auto error = scan_.expect("=>")) return *error;
    const size_t replacement = scan_.offset();
    ASSAY_TRY(replace, expression(1));
    if (const auto error = scan_.expect(":")) return *error;
    ASSAY_TRY(over, types());
    rule.over = over;
    rule.match = divided(match);
    rule.replace = divided(replace);
    size_t guard = 0;
    if (scan_.take("when")) {
      guard = scan_.offset();
      in_guard_ = true;
      ASSAY_TRY(when, expression(1));
      rule.when = when;
    }
    if (!scan_.at_end()) return scan_.error("expected the end");
    if (const auto error = check_holes(rule.replace, replacement)) return *error;
    if (const auto error = check_holes(rule.when, guard)) return *error;
    return std::move(made_);
  }

 private:
  std::string_view kept(std::string text) {
    made_->names.push_back(std::move(text));
    return made_->names.back();
  }

  // What the guard uses by itself is a constant; the match, which comes first, must know.
  void find_constants() {
    RuleScan ahead = scan_;
    bool in_guard = false;
    std::vector<std::string_view> calls;  // what each open bracket belongs to
    std::string_view last;
    for (std::string_view token = ahead.next(); !token.empty(); token = ahead.next()) {
      if (token == "#") constants_.insert(std::string(ahead.peek()));
      if (token == "when") in_guard = true;
      if (token == "(") calls.push_back(RuleScan::is_name(last) ? last : "");
      if (token == ")" && !calls.empty()) calls.pop_back();
      if (in_guard && RuleScan::is_name(token) && ahead.peek() != "(" && token != "when") {
        const std::string_view call = calls.empty() ? "" : calls.back();
        const Meaning* meaning = meaning_of(call);
        const bool is_term = call == "lo" || call == "hi" ||
                             (meaning != nullptr && meaning->says != Meaning::Says::IsOneOf);
        if (!is_term && binary_named(token) == nullptr) constants_.insert(std::string(token));
      }
      last = token;
    }
  }

  // Of floats alone `/` is the division of floats.
  Pat divided(const Pat& pat) const {
    if (pat->what != What::Apply || pat->args.empty()) return pat;
    std::vector<Pat> args;
    for (const Pat& arg : pat->args) args.push_back(divided(arg));
    const bool is_float_only = (made_->rule.over & uop::kFloats) == made_->rule.over;
    const Op op = pat->op == Op::Div && is_float_only ? Op::FDiv : pat->op;
    const Pat result(op, std::move(args));
    return pat->type == DType::Void ? result : result.as(pat->type);
  }

  std::optional<Error> check_holes(const Pat& pat, size_t at) const {
    if (pat.empty()) return std::nullopt;
    const std::vector<std::string_view> known = uop::hole_names(made_->rule.match);
    for (const std::string_view name : all_names(pat)) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return scan_.error_at(at, fmt::format("{} does not occur in the match", name));
    }
    return std::nullopt;
  }

  static size_t nodes_of(const Pat& pat) {
    size_t nodes = 1;
    for (const Pat& arg : pat->args) nodes += nodes_of(arg);
    return nodes;
  }

  static std::set<std::string_view> all_names(const Pat& pat) {
    std::set<std::string_view> names;
    if (pat->what == What::Hole || pat->what == What::Constant) names.insert(pat->name);
    for (const Pat& arg : pat->args) names.merge(all_names(arg));
    return names;
  }

  Result<TypeSet> types() {
    TypeSet all;
    while (scan_.peek() != "when" && !scan_.at_end()) {
      if (scan_.take(",") || scan_.take("+")) continue;
      const size_t at = scan_.offset();
      const std::string_view name = scan_.next();
      const std::optional<TypeSet> set = types_named(name);
      if (!set) return scan_.error_at(at, fmt::format("{} is no type", quoted(name)));
      all = all | *set;
    }
    if (all.empty()) return scan_.error("expected a type");
    return all;
  }

  Parsed expression(int level) {
    if (++depth_ > 100) return scan_.error("the term is too deep");
    ASSAY_TRY(left, unary());
    while (const Binary* binary = binary_named(scan_.peek())) {
      if (binary->level < level) break;
      const size_t at = scan_.offset();
      scan_.next();
      ASSAY_TRY(right, expression(binary->level + 1));
      if (in_guard_ && !binary->is_of_guards) {
        return scan_.error_at(at, fmt::format("a guard has no {}", binary->text));
      }
      const Pat a = binary->swaps ? right : left;
      const Pat b = binary->swaps ? left : right;
      const Pat applied(binary->op, {a, b});
      left = binary->negates ? !applied : applied;
    }
    depth_--;
    return left;
  }

  Parsed unary() {
    if (++depth_ > 100) return scan_.error("the term is too deep");
    Parsed result = unary_of();
    depth_--;
    return result;
  }

  Parsed unary_of() {
    if (scan_.take("!") || scan_.take("~")) {
      ASSAY_TRY(operand, unary());
      return !operand;
    }
    if (scan_.take("-")) {
      ASSAY_TRY(operand, unary());
      if (operand->what == What::Literal) return Pat(-operand->literal);
      return in_guard_ ? 0 - operand : Pat(Op::Neg, {operand});
    }
    if (scan_.take("(")) {
      ASSAY_TRY(inner, expression(1));
      if (const auto error = scan_.expect(")")) return *error;
      return inner;
    }
    return leaf();
  }

  Parsed leaf() {
    const size_t at = scan_.offset();
    const bool is_constant = scan_.take("#");
    const std::string_view token = scan_.next();
    if (!token.empty() && token[0] >= '0' && token[0] <= '9') {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
      if (error != std::errc() || end != token.data() + token.size()) {
        return scan_.error_at(at, fmt::format("{} is no whole number", quoted(token)));
      }
      return Pat(value);
    }
    if (!RuleScan::is_name(token)) return scan_.error_at(at, "expected an operand");
    if (token == "true") return Pat(1);
    if (token == "false") return Pat(0);
    if (token == "invalid") return uop::invalid();
    if (scan_.peek() == "(" && !is_constant) return call(token, at);
    const std::string name(token);
    if (is_constant || constants_.contains(name)) return uop::constant(kept(name), uop::kScalars);
    return uop::any(kept(name), uop::kScalars);
  }

  Result<std::vector<Pat>> arguments(std::optional<DType>& type) {
    std::vector<Pat> args;
    scan_.next();  // the bracket
    while (true) {
      if (!args.empty() && uop::dtype_from_text(scan_.peek())) {
        type = uop::dtype_from_text(scan_.next());
      } else {
        ASSAY_TRY(arg, expression(1));
        args.push_back(arg);
      }
      if (scan_.take(")")) return args;
      if (const auto error = scan_.expect(",")) return *error;
    }
  }

  Parsed call(std::string_view name, size_t at) {
    std::optional<DType> type;
    ASSAY_TRY(args, arguments(type));
    const bool is_leaf =
        args.size() == 1 && (args[0]->what == What::Hole || args[0]->what == What::Constant);
    if (name == "lo" || name == "hi" || name == "unread") {
      if (!is_leaf) return scan_.error_at(at, fmt::format("{} is of one hole", name));
      if (name == "unread") return uop::unread(args[0]->name);
      return name == "lo" ? uop::lo(args[0]) : uop::hi(args[0]);
    }
    if (const uop::Predicate* predicate = predicate_named(name)) {
      if (!is_leaf || !in_guard_) {
        return scan_.error_at(at, fmt::format("{} is a test of one hole in a guard", name));
      }
      return uop::test(*predicate, args);
    }
    const std::optional<Op> op = function_named(name);
    if (!op) return scan_.error_at(at, fmt::format("{} is no function", quoted(name)));
    if (in_guard_ && *op != Op::Min && *op != Op::Max) {
      return scan_.error_at(at, fmt::format("a guard has no {}", name));
    }
    const size_t arity = static_cast<size_t>(uop::info(*op).min_sources);
    if (args.size() != arity) {
      return scan_.error_at(at,
                            fmt::format("{} takes {} operands, not {}", name, arity, args.size()));
    }
    const Pat applied(*op, args);
    return type ? applied.as(*type) : applied;
  }

  RuleScan scan_;
  std::unique_ptr<TextRule> made_;
  std::set<std::string> constants_;
  bool in_guard_ = false;
  int depth_ = 0;
};

}  // namespace

Result<std::unique_ptr<TextRule>> parse_rule(std::string_view text) {
  return RuleParser(text).run();
}

std::string to_infix(const Pat& pat) {
  switch (pat->what) {
    case What::Nothing: return "";
    case What::Hole:
      return pat->unread ? fmt::format("unread({})", pat->name) : std::string(pat->name);
    case What::Constant: return std::string(pat->name);
    case What::Literal: return fmt::format("{}", pat->literal);
    case What::Lo:
    case What::Hi: return leaf_name(pat);
    case What::Test: return fmt::format("{}({})", pat->predicate->name, pat->args[0]->name);
    case What::Apply: break;
  }
  const auto operand = [](const Pat& arg) {
    const bool is_leaf = arg->what != What::Apply || arg->args.empty();
    return is_leaf ? to_infix(arg) : fmt::format("({})", to_infix(arg));
  };
  // A number stands on the right, as one says it.
  const auto compared = [&](const Pat& a, const Pat& b, std::string_view less,
                            std::string_view more) {
    const bool turns = a->what == What::Literal;
    return fmt::format("{} {} {}", operand(turns ? b : a), turns ? more : less,
                       operand(turns ? a : b));
  };
  if (pat->op == Op::Lt) return compared(pat->args[0], pat->args[1], "<", ">");
  if (pat->op == Op::Not && pat->args[0]->what == What::Apply && pat->args[0]->op == Op::Lt) {
    return compared(pat->args[0]->args[1], pat->args[0]->args[0], "<=", ">=");
  }
  if (pat->op == Op::Not) return "!" + operand(pat->args[0]);
  for (const Binary& binary : kBinaries) {
    if (binary.op != pat->op || binary.swaps || binary.negates || pat->args.size() != 2) continue;
    return fmt::format("{} {} {}", operand(pat->args[0]), binary.text, operand(pat->args[1]));
  }
  std::string text(uop::to_text(pat->op));
  if (pat->args.empty()) return text;
  for (size_t i = 0; i < pat->args.size(); i++) {
    text += (i == 0 ? "(" : ", ") + to_infix(pat->args[i]);
  }
  if (pat->type != DType::Void) text += fmt::format(", {}", uop::to_text(pat->type));
  return text + ")";
}

}  // namespace assay::props
