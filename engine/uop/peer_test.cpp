// 500 index expressions as chains of movement operations make them, with the number of operations
// that another simplifier leaves of each: testdata/index_expressions.jsonl, an object a line.
//   max       largest values of r0, r1, …, whose smallest is 0
//   index     prefix text; // and % floor
//   valid     conditions under which the index is used, if there are any
//   ops, valid_ops, peer_ops, peer_valid_ops   distinct operations as given and as the peer has
//   them
// Reading and evaluating are done here and share nothing with the engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/uop/given.h"
#include "engine/uop/key.h"
#include "engine/uop/simplify.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

// A term as straight-line code: each step is one distinct term and comes before its users. Of
// constants `value` is the value, of ranges the number.
struct TapeStep {
  Op op;
  size_t a = 0;
  size_t b = 0;
  int64_t value = 0;
  auto operator<=>(const TapeStep&) const = default;
};

class Tape {
 public:
  size_t add(const TapeStep& step) {
    const auto [at, added] = places_.try_emplace(step, steps_.size());
    if (added) steps_.push_back(step);
    return at->second;
  }
  const std::vector<TapeStep>& steps() const { return steps_; }

  // Operations that the step needs, itself among them.
  size_t operations(size_t root) const {
    std::vector<bool> needed(steps_.size());
    needed[root] = true;
    size_t count = 0;
    for (size_t i = root + 1; i-- > 0;) {
      const TapeStep& s = steps_[i];
      if (!needed[i] || s.op == Op::Const || s.op == Op::Range) continue;
      needed[s.a] = true;
      needed[s.b] = true;
      count++;
    }
    return count;
  }

 private:
  std::vector<TapeStep> steps_;
  std::map<TapeStep, size_t> places_;
};

size_t add_operation(Tape& tape, const std::string& symbol, size_t a, size_t b) {
  static const std::map<std::string, Op> ops = {{"+", Op::Add}, {"*", Op::Mul}, {"//", Op::Div},
                                                {"%", Op::Mod}, {"<", Op::Lt},  {">=", Op::Lt}};
  const size_t step = tape.add({ops.at(symbol), a, b});
  return symbol == ">=" ? tape.add({Op::Not, step, step}) : step;
}

// Adds the term of a prefix text to the tape.
size_t read(Tape& tape, const std::string& text) {
  struct Open {
    std::string symbol;
    std::vector<size_t> operands;
  };
  std::vector<Open> stack = {{}};
  std::string word;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '(') {
      const size_t end = text.find(' ', i);
      stack.push_back({text.substr(i + 1, end - i - 1), {}});
      i = end;
      continue;
    }
    if (text[i] == ')') {
      const Open done = stack.back();
      stack.pop_back();
      stack.back().operands.push_back(
          add_operation(tape, done.symbol, done.operands.at(0), done.operands.at(1)));
      continue;
    }
    if (text[i] == ' ') continue;
    const size_t end = std::min(text.find_first_of(" )", i), text.size());
    word = text.substr(i, end - i);
    const bool is_range = word[0] == 'r';
    const Op op = is_range ? Op::Range : Op::Const;
    stack.back().operands.push_back(tape.add({op, 0, 0, std::stoll(word.substr(is_range))}));
    i = end - 1;
  }
  return stack.at(0).operands.at(0);
}

int64_t floor_quotient(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t result(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Mul: return a * b;
    case Op::Div: return floor_quotient(a, b);
    case Op::Mod: return a - floor_quotient(a, b) * b;
    case Op::Max: return std::max(a, b);
    case Op::Min: return std::min(a, b);
    case Op::Lt: return a < b ? 1 : 0;
    case Op::Eq: return a == b ? 1 : 0;
    case Op::Ne: return a != b ? 1 : 0;
    case Op::Not: return 1 - a;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    default: ADD_FAILURE() << to_text(op) << " has no place in an index"; return 0;
  }
}

constexpr size_t kBlock = 256;
using Block = std::array<int64_t, kBlock>;

// The values of all steps at a block of points, given the ranges' values there.
void evaluate(const Tape& tape, const std::vector<Block>& ranges, std::vector<Block>& values) {
  values.resize(tape.steps().size());
  for (size_t i = 0; i < values.size(); i++) {
    const TapeStep& s = tape.steps()[i];
    Block& out = values[i];
    if (s.op == Op::Const) {
      out.fill(s.value);
    } else if (s.op == Op::Range) {
      out = ranges[static_cast<size_t>(s.value)];
    } else {
      const Block& a = values[s.a];
      const Block& b = values[s.b];
      for (size_t p = 0; p < kBlock; p++) out[p] = result(s.op, a[p], b[p]);
    }
  }
}

// Calls see(ranges, count) with all points of the ranges, a block at a time. What is left of the
// last block holds its last point.
template <typename See>
void for_all_points(const std::vector<int64_t>& max, See see) {
  std::vector<Block> ranges(max.size());
  std::vector<int64_t> point(max.size());
  bool more = true;
  while (more) {
    for (size_t p = 0; p < kBlock; p++) {
      for (size_t r = 0; r < max.size(); r++) ranges[r][p] = point[r];
      if (!more) continue;
      size_t r = 0;
      while (r < max.size() && point[r] == max[r]) point[r++] = 0;
      more = r < max.size();
      if (more) point[r]++;
      if (!more) point = max;
    }
    see(ranges);
  }
}

// An index and its gate, which is the constant 1 where there is none.
struct Gated {
  Tape tape;
  size_t index = 0;
  size_t gate = 0;
};

// Whether both gates agree everywhere, and both indices wherever they hold.
bool agree(const Gated& x, const Gated& y, const std::vector<int64_t>& max) {
  bool same = true;
  std::vector<Block> a;
  std::vector<Block> b;
  for_all_points(max, [&](const std::vector<Block>& ranges) {
    evaluate(x.tape, ranges, a);
    evaluate(y.tape, ranges, b);
    for (size_t p = 0; p < kBlock; p++) {
      const int64_t gate = a[x.gate][p];
      same = same && gate == b[y.gate][p] && (gate == 0 || a[x.index][p] == b[y.index][p]);
    }
  });
  return same;
}

struct Line {
  std::vector<int64_t> max;
  Gated term;
  size_t ops, valid_ops, peer_ops, peer_valid_ops;
};

Gated read_gated(const std::string& index, const std::vector<std::string>& valid) {
  Gated term;
  term.index = read(term.tape, index);
  for (size_t i = 0; i < valid.size(); i++) {
    const size_t condition = read(term.tape, valid[i]);
    term.gate = i == 0 ? condition : term.tape.add({Op::And, term.gate, condition});
  }
  if (valid.empty()) term.gate = term.tape.add({Op::Const, 0, 0, 1});
  return term;
}

std::vector<Line> read_lines() {
  std::ifstream file(ASSAY_SOURCE_DIR "/engine/uop/testdata/index_expressions.jsonl");
  std::vector<Line> lines;
  std::string text;
  while (std::getline(file, text)) {
    const nlohmann::json j = nlohmann::json::parse(text);
    const auto valid = j.value("valid", std::vector<std::string>());
    lines.push_back({j["max"], read_gated(j["index"], valid), j["ops"],
                     j.value("valid_ops", size_t{0}), j["peer_ops"],
                     j.value("peer_valid_ops", size_t{0})});
  }
  return lines;
}

// The engine's graph of a term, an index that is gated where the gate is no constant.
Ref graph_of(Graph& g, const Line& line) {
  std::vector<Ref> made;
  for (const TapeStep& s : line.term.tape.steps()) {
    if (s.op == Op::Const) {
      made.push_back(g.constant(Index, s.value));
    } else if (s.op == Op::Range) {
      const int64_t max = line.max.at(static_cast<size_t>(s.value));
      made.push_back(
          g.variable("r" + std::to_string(s.value), of_int(Index, 0), of_int(Index, max)));
    } else if (s.op == Op::Not) {
      made.push_back(g.alu(Op::Not, {made[s.a]}));
    } else {
      made.push_back(g.alu(s.op, {made[s.a], made[s.b]}));
    }
  }
  const Ref index = made[line.term.index];
  if (line.term.tape.steps()[line.term.gate].op == Op::Const) return index;
  return g.make(Op::Where, Index, {made[line.term.gate], index, g.make(Op::Invalid, Index, {})});
}

size_t add_graph(Tape& tape, Graph& g, Ref root) {
  std::map<uint32_t, size_t> place;
  size_t last = 0;
  for (const Ref u : toposort(g, root)) {
    const auto source = [&](size_t i) { return place.at(u->src[i]->id); };
    if (is_const(u)) {
      last = tape.add({Op::Const, 0, 0, static_cast<int64_t>(u->value().bits)});
    } else if (u->op == Op::Variable) {
      last = tape.add({Op::Range, 0, 0, std::stoll(std::string(u->arg.name().substr(1)))});
    } else {
      last = tape.add({u->op, source(0), source(u->src.size() - 1)});
    }
    place[u->id] = last;
  }
  return last;
}

// What the engine makes of a line.
Gated simplified(const Line& line) {
  Graph g;
  Run run(g);
  const Result<Ref> result = simplify(run, graph_of(g, line));
  Gated term;
  if (!result.ok()) {
    ADD_FAILURE() << to_string(result.error());
    return term;
  }
  const Ref u = result.value();
  const bool is_gated = u->op == Op::Where && u->src[2]->op == Op::Invalid;
  const bool is_never = u->op == Op::Invalid;
  term.gate = is_gated ? add_graph(term.tape, g, u->src[0])
                       : term.tape.add({Op::Const, 0, 0, is_never ? 0 : 1});
  term.index = is_never ? term.gate : add_graph(term.tape, g, is_gated ? u->src[1] : u);
  return term;
}

TEST(PeerExpressions, AreReadWithAllTheirOperations) {
  const std::vector<Line> lines = read_lines();
  EXPECT_EQ(lines.size(), 500U);
  size_t ops = 0;
  size_t valid_ops = 0;
  for (const Line& line : lines) {
    EXPECT_EQ(line.term.tape.operations(line.term.index), line.ops);
    EXPECT_EQ(line.term.tape.operations(line.term.gate), line.valid_ops);
    ops += line.ops;
    valid_ops += line.valid_ops;
  }
  EXPECT_EQ(ops, 6591U);
  EXPECT_EQ(valid_ops, 1771U);
}

TEST(PeerExpressions, AreToldFromOthersByTheirValues) {
  const Gated half = read_gated("(// r0 2)", {"(>= r1 3)"});
  EXPECT_TRUE(agree(half, read_gated("(// (+ (* r0 2) 1) 4)", {"(< 2 r1)"}), {9, 400}));
  EXPECT_FALSE(agree(half, read_gated("(// (+ r0 1) 2)", {"(>= r1 3)"}), {9, 400}));
  EXPECT_FALSE(agree(half, read_gated("(// r0 2)", {"(>= r1 4)"}), {9, 400}));
  EXPECT_FALSE(agree(half, read_gated("(// r0 2)", {"(>= (% r1 400) 3)"}), {9, 400}));
  EXPECT_TRUE(agree(half, read_gated("(// r0 2)", {"(>= (% r1 400) 3)"}), {9, 399}));
}

TEST(PeerExpressions, KeepTheirValuesAtEveryPoint) {
  const std::vector<Line> lines = read_lines();
  for (size_t i = 0; i < lines.size(); i++) {
    EXPECT_TRUE(agree(lines[i].term, simplified(lines[i]), lines[i].max)) << "line " << i + 1;
  }
}

TEST(PeerExpressions, HaveNoMoreOperationsThanThePeerLeaves) {
  size_t ops = 0;
  size_t valid_ops = 0;
  size_t larger = 0;
  const std::vector<Line> lines = read_lines();
  for (const Line& line : lines) {
    const Gated term = simplified(line);
    const size_t n = term.tape.operations(term.index);
    const size_t m = term.tape.operations(term.gate);
    ops += n;
    valid_ops += m;
    larger += n > line.peer_ops || m > line.peer_valid_ops ? 1 : 0;
  }
  std::cout << "index expressions: " << ops << " operations (peer: 3185), gates: " << valid_ops
            << " (peer: 1089), lines larger than the peer's: " << larger << " of " << lines.size()
            << "\n";
  RecordProperty("operations", static_cast<int>(ops));
  RecordProperty("gate_operations", static_cast<int>(valid_ops));
  RecordProperty("larger_lines", static_cast<int>(larger));
  EXPECT_LE(ops, 3185U);
  EXPECT_LE(valid_ops, 1089U);
  EXPECT_LE(larger * 100, lines.size() * 3);
}

// The keys of all 500 results, one after another. A changed rule changes this number; another
// compiler or build must not.
TEST(PeerExpressions, AreTheSameInEveryBuild) {
  uint64_t all = 0;
  for (const Line& line : read_lines()) {
    Graph g;
    uop::Run run(g);
    const Key k = key(g, simplify(run, graph_of(g, line)).value());
    all = (all ^ k.low ^ k.high) * 0x9E3779B97F4A7C15U;
  }
  EXPECT_EQ(all, 9687214472356295074U);
}

}  // namespace
}  // namespace assay::uop
