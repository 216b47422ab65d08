#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::uop {

// A condition on operands that no term can say.
struct Predicate {
  std::string_view name;
  bool (*holds)(Graph& g, std::span<const Ref> operands);
};

// A term with holes: a rule's two sides and its guard. One Pat is matched, built, printed and
// proved. As a guard it speaks of exact integers: constants, lo() and hi() stand for their values,
// and a value that is infinite or no integer makes the guard false.
class Pat {
 public:
  enum class What : uint8_t {
    Nothing,
    Hole,      // any term
    Constant,  // any CONST
    Literal,   // the CONST of this integer, at whatever type its place has
    Apply,     // an operation on terms
    Lo,        // the least and the largest value of a hole
    Hi,
    Test,  // a predicate on holes
  };
  struct Node;

  Pat() = default;
  Pat(int64_t literal);  // NOLINT(google-explicit-constructor): numbers read as terms
  Pat(int literal) : Pat(int64_t{literal}) {}  // NOLINT(google-explicit-constructor)
  Pat(Op op, std::vector<Pat> args);

  bool empty() const { return node_ == nullptr; }
  const Node& operator*() const { return *node_; }
  const Node* operator->() const { return node_.get(); }

  // A cast or bitcast to a type of its own; without it the type is that of the place it stands in.
  Pat as(DType t) const;

  friend Pat any(std::string_view name, TypeSet over);
  friend Pat unread(std::string_view name);
  friend Pat constant(std::string_view name, TypeSet over);
  friend Pat lo(const Pat& hole);
  friend Pat hi(const Pat& hole);
  friend Pat test(const Predicate& predicate, std::vector<Pat> holes);

 private:
  explicit Pat(Node node);
  std::shared_ptr<const Node> node_;
};

struct Pat::Node {
  What what = What::Nothing;
  Op op = Op::Noop;
  DType type = DType::Void;  // of a cast with a type of its own
  TypeSet over = kScalars;   // the types of a hole
  bool unread = false;
  int64_t literal = 0;
  std::string_view name;
  const Predicate* predicate = nullptr;
  std::vector<Pat> args;
};

// Holes. The same name is the same term everywhere in a rule. A rule that forgets a hole fires only
// where that hole cannot be Invalid, unless the hole is `unread`: one whose value the match does
// not use (the branch of a select that is not taken).
Pat any(std::string_view name, TypeSet over = kScalars);
Pat unread(std::string_view name);
Pat constant(std::string_view name, TypeSet over = kScalars);
Pat lo(const Pat& hole);
Pat hi(const Pat& hole);
Pat test(const Predicate& predicate, std::vector<Pat> holes);

// `/` and `%` floor. In guards they, and comparisons, speak of exact integers.
Pat operator+(const Pat& a, const Pat& b);
Pat operator-(const Pat& a, const Pat& b);
Pat operator*(const Pat& a, const Pat& b);
Pat operator/(const Pat& a, const Pat& b);
Pat operator%(const Pat& a, const Pat& b);
Pat operator<(const Pat& a, const Pat& b);
Pat operator<=(const Pat& a, const Pat& b);
Pat operator>(const Pat& a, const Pat& b);
Pat operator>=(const Pat& a, const Pat& b);
Pat operator==(const Pat& a, const Pat& b);
Pat operator!=(const Pat& a, const Pat& b);
Pat operator&&(const Pat& a, const Pat& b);
Pat operator||(const Pat& a, const Pat& b);
Pat operator!(const Pat& a);
Pat min(const Pat& a, const Pat& b);
Pat max(const Pat& a, const Pat& b);
Pat where(const Pat& c, const Pat& a, const Pat& b);
Pat cast(const Pat& a);
Pat invalid();

// Prefix text, as assay rules prints it.
std::string to_text(const Pat& pat);

inline constexpr int kMaxRegisters = 24;
inline constexpr int kMaxHoles = 8;

// One way to match a pattern (commuting operands stand in one order), as straight-line code over
// registers: register 0 is the node, Expand puts a node's sources into the next free registers.
struct MatchProgram {
  enum class Code : uint8_t { Expand, Constant, Literal, Same, Type };
  struct Step {
    Code code;
    uint8_t reg;
    uint8_t other;    // Expand: first register of the sources; Same: the other register
    Op op;            // Expand
    TypeSet over;     // Type
    int64_t literal;  // Literal
    uint8_t arity;    // Expand
    DType type;       // Expand: the type a cast must have, or void
  };
  std::vector<Step> steps;
  std::vector<uint8_t> hole_registers;  // where each of the rule's holes is found
  OpSet first, second;                  // operations that sources 0 and 1 of the node may have
};

// The terms that a match found for a rule's holes, in the order of hole_names().
struct Match {
  Ref root = nullptr;
  Ref holes[kMaxHoles] = {};
};

// The names of a pattern's holes in the order of their first occurrence.
std::vector<std::string_view> hole_names(const Pat& pat);

// Every way to match `pat`, one for each order of its commuting operands.
std::vector<MatchProgram> compile_match(const Pat& pat);
bool run_match(const MatchProgram& program, Ref node, Match& match);

// A pattern made ready for building and judging: holes are indices, types are inferred.
class Builder {
 public:
  Builder() = default;
  Builder(const Pat& pat, const std::vector<std::string_view>& holes);

  bool empty() const { return steps_.empty(); }
  // The term, at type t where its place decides; parts that hold only constants are folded. Null
  // where a fold has no value.
  Ref build(Graph& g, const Match& match, DType t) const;
  // The guard's truth.
  bool holds(Graph& g, const Match& match) const;

 private:
  struct Step {
    Pat::What what;
    Op op;
    DType type;
    uint8_t hole;
    uint8_t arity;
    bool constant;  // holds only constants: it is folded
    bool typed_by_operands;
    int64_t literal;
    const Predicate* predicate;
    uint16_t args[3];
    uint8_t predicate_holes[3];
  };
  uint16_t add(const Pat& pat, const std::vector<std::string_view>& holes);
  DType own_type(uint16_t step, const Match& match) const;
  Ref make(Graph& g, const Match& match, uint16_t step, DType t) const;
  Ref make_apply(Graph& g, const Match& match, const Step& s, DType t) const;
  std::optional<Int128> exact(Graph& g, const Match& match, uint16_t step) const;
  std::optional<Int128> exact_apply(Graph& g, const Match& match, const Step& s) const;

  std::vector<Step> steps_;  // operands before their users; the last is the root
};

}  // namespace assay::uop
