#include "props/firings/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/uop/dim.h"
#include "engine/uop/eval.h"
#include "engine/uop/shape.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/smt/prover.h"
#include "props/firings/mover.h"

namespace assay::props {
namespace {

using smt::Formula;
using smt::Satisfiable;
using smt::Term;
using uop::Graph;
using uop::Int128;
using uop::Op;
using uop::Ref;

constexpr int64_t kLargestSize = int64_t{1} << 40;
constexpr int64_t kSmallSize = 5;                     // first tried for a witness
constexpr int64_t kMostOfWitness = int64_t{1} << 20;  // of a base that a witness is run on

// The movements from root down to the base, root first.
std::vector<Ref> chain_of(Ref root, Ref base) {
  std::vector<Ref> chain;
  for (Ref u = root; u != base; u = u->src[0]) chain.push_back(u);
  return chain;
}

std::vector<Ref> sizes_of(Graph& g, Ref base) {
  const uop::Shape shape = uop::shape(g, base);
  return {shape.begin(), shape.end()};
}

class MovementJudge {
 public:
  MovementJudge(Graph& g, Ref before, Ref after, Ref base, Context& context)
      : g_(g), context_(context), base_(base), sides_{before, after}, mover_(g, formula_) {
    for (int k = 0; k < 2; k++) chains_[k] = chain_of(sides_[k], base);
  }

  Outcome run() {
    const std::vector<Term> base = mover_.terms(sizes_of(g_, base_));
    for (const Term s : base) formula_.require(formula_.le(formula_.integer(0), s));
    for (int k = 0; k < 2; k++) moved_[k] = mover_.moved(chains_[k], base);
    formula_.require(moved_[0].well_formed);
    if (moved_[0].sizes.size() != moved_[1].sizes.size()) return failed("ranks differ", {});
    ask(moved_[1].well_formed, "the second is ill-formed");
    std::vector<Term> at;
    for (size_t i = 0; i < moved_[0].sizes.size(); i++) {
      ask(formula_.equal(moved_[0].sizes[i], moved_[1].sizes[i]), "sizes differ");
      at.push_back(formula_.bounded(fmt::format("at{}", i), 0, kLargestSize));
      const Term inside = formula_.lt(at[i], moved_[0].sizes[i]);
      places_.push_back(inside);
    }
    for (const Term inside : places_) formula_.require(inside);
    compare_places(base, at);
    return result_ ? *result_ : Outcome{{Answer::Pass, Strength::Proved, "for all sizes"}, method_};
  }

 private:
  void compare_places(const std::vector<Term>& base, const std::vector<Term>& at) {
    Mover::Place p[2];
    for (int k = 0; k < 2; k++) p[k] = mover_.place(chains_[k], moved_[k], at);
    ask(formula_.equal(p[0].valid, p[1].valid), "padding differs");
    formula_.require(p[0].valid);
    formula_.require(p[1].valid);
    if (!p[0].is_flat && !p[1].is_flat) {
      for (size_t i = 0; i < base.size(); i++) {
        ask(formula_.equal(p[0].at[i], p[1].at[i]), "elements differ");
      }
      return;
    }
    for (Mover::Place& place : p) {
      if (!place.is_flat) place.flat = mover_.flattened(place.at, base);
    }
    ask(formula_.equal(p[0].flat, p[1].flat), "elements differ");
  }

  // Whether the claim follows from what is required.
  void ask(Term claim, std::string_view what) {
    if (result_ || formula_.is_true(claim)) return;
    const size_t required = formula_.required().size();
    formula_.require(formula_.no(claim));
    const size_t asked = formula_.required().size();
    for (const auto& [name, variable] : mover_.variables()) {
      const Term size = mover_.term(variable);
      formula_.require(formula_.le(size, formula_.integer(kSmallSize)));
    }
    smt::Decision decision = context_.prover.decide(formula_, "movement");
    if (decision.answer != Satisfiable::Yes && formula_.required().size() > asked) {
      formula_.keep(asked);
      decision = context_.prover.decide(formula_, "movement");
    }
    formula_.keep(required);
    if (decision.answer == Satisfiable::No) {
      method_ = std::string(decision.method);
    } else if (decision.answer == Satisfiable::Yes) {
      result_ = failed(what, values_of(decision));
    } else {
      result_ =
          Outcome{{Answer::Unknown, Strength::Sampled, std::string(what) + "?"}, decision.why};
    }
  }

  std::map<std::string, int64_t> values_of(const smt::Decision& decision) const {
    std::map<std::string, int64_t> values;
    for (size_t i = 0; i < formula_.variables().size(); i++) {
      values[formula_.variables()[i].name] = static_cast<int64_t>(decision.model[i].n);
    }
    return values;
  }

  // The size that a term is for these values.
  int64_t number(Ref size, const std::map<std::string, int64_t>& values) const {
    const Ref term = size->op == Op::Bind ? size->src[0] : size;
    uop::Evaluator evaluator(g_, term);
    std::vector<uop::Value> leaves;
    for (const Ref leaf : evaluator.leaves()) {
      const auto found = values.find(std::string(leaf->arg.name()));
      leaves.push_back(uop::of_int(leaf->dtype, found == values.end() ? 1 : found->second));
    }
    return static_cast<int64_t>(uop::as_int(evaluator.run(leaves).value));
  }

  // The chain of a side over `base`, whose elements are numbers, with constant sizes.
  Ref concrete(int side, Ref base, const std::map<std::string, int64_t>& values) {
    Ref u = base;
    for (size_t i = chains_[side].size(); i-- > 0;) {
      const Ref step = chains_[side][i];
      std::vector<Ref> sources = {u};
      for (const Ref s : step->src.subspan(1)) sources.push_back(uop::dim(g_, number(s, values)));
      u = g_.make(step->op, base->dtype, sources, step->arg);
    }
    return u;
  }

  // The witness run: the base numbered from 1 on, both sides evaluated.
  Outcome failed(std::string_view what, const std::map<std::string, int64_t>& values) {
    std::vector<Ref> sizes;
    int64_t count = 1;
    std::string text(what);
    for (const auto& [name, value] : values) text += fmt::format(" {}={}", name, value);
    for (const Ref s : sizes_of(g_, base_)) {
      sizes.push_back(uop::dim(g_, number(s, values)));
      count *= static_cast<int64_t>(sizes.back()->arg.bits);
      if (count > kMostOfWitness) return unconfirmed(text + ", too large to run");
    }
    const auto place = uop::Arg::place(0, uop::AddrSpace::Global);
    const Ref base = g_.make(Op::Buffer, uop::DType::I32, sizes, place);
    interpreter::Memory memory;
    const std::span<std::byte> bytes = memory.of(g_, base);
    for (int32_t i = 0; i < static_cast<int32_t>(count); i++) {
      const int32_t number = i + 1;
      std::memcpy(&bytes[static_cast<size_t>(i) * sizeof number], &number, sizeof number);
    }
    Result<std::vector<interpreter::Elements>> run[2] = {Error{}, Error{}};
    for (int k = 0; k < 2; k++) {
      const Ref root = concrete(k, base, values);
      run[k] = interpreter::evaluate(g_, {&root, 1}, {}, memory);
    }
    if (!run[0].ok()) return unconfirmed(text + ", " + to_string(run[0].error()));
    const bool is_same = run[1].ok() && run[0].value()[0].shape == run[1].value()[0].shape &&
                         run[0].value()[0].bytes == run[1].value()[0].bytes;
    if (is_same) return unconfirmed(text + ", which a run does not show");
    text += run[1].ok() ? "; run, elements are others" : "; run, " + to_string(run[1].error());
    return {{Answer::Fail, Strength::Proved, text}, "movement"};
  }
  static Outcome unconfirmed(const std::string& text) {
    return {{Answer::Unknown, Strength::Sampled, text}, "unconfirmed"};
  }

  Graph& g_;
  Context& context_;
  Ref base_;
  Ref sides_[2];
  std::vector<Ref> chains_[2];
  Formula formula_;
  Mover mover_;
  Mover::Moved moved_[2];
  std::vector<Term> places_;
  std::optional<Outcome> result_;
  std::string method_ = "folding";
};

}  // namespace

Ref moved_base(Ref before, Ref after) {
  std::vector<Ref> below;
  for (Ref u = before;; u = u->src[0]) {
    below.push_back(u);
    if (!uop::is_movement(u->op)) break;
  }
  for (Ref u = after;; u = u->src[0]) {
    if (std::find(below.begin(), below.end(), u) != below.end()) return u;
    if (!uop::is_movement(u->op)) return nullptr;
  }
}

Outcome judge_movement(Graph& g, Ref before, Ref after, Context& context) {
  return MovementJudge(g, before, after, moved_base(before, after), context).run();
}

}  // namespace assay::props
