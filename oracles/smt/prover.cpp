#include "oracles/smt/prover.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "oracles/smt/cache.h"
#include "oracles/smt/canonical.h"
#include "oracles/smt/child.h"
#include "oracles/smt/enumerate.h"
#include "oracles/smt/products.h"

namespace assay::smt {
namespace {

enum class Method : uint8_t { Enumeration, Z3, Cvc5 };

std::string_view to_text(Method method) {
  switch (method) {
    case Method::Enumeration: return "enumeration";
    case Method::Z3: return "z3";
    case Method::Cvc5: return "cvc5";
  }
  return "";
}

bool has_floats(const Formula& f) {
  return std::any_of(f.nodes().begin(), f.nodes().end(),
                     [](const Formula::Node& n) { return n.sort.kind == Sort::Kind::Float; });
}

// Solvers get this part of their steps where integers that are no numbers are multiplied or
// divided by such: each step is so much longer there.
constexpr int64_t kNonlinearShare = 4;

bool is_nonlinear(const Formula& f) {
  const std::vector<uint32_t> nodes = needed_nodes(f);
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](uint32_t id) { return is_nonlinear(f, Term{id}); });
}

// The point at which each variable is as small as it can be.
std::vector<Number> least_point(const Formula& f) {
  std::vector<Number> point;
  for (const Formula::Variable& v : f.variables()) point.push_back({v.is_bounded ? v.lo : 0});
  return point;
}

Decision unknown(std::string why) {
  Decision decision;
  decision.why = std::move(why);
  return decision;
}

// A question that terms answer by themselves, once folded.
std::optional<Decision> decide_by_folding(const Formula& f) {
  Decision decision;
  decision.method = "folding";
  bool all_true = true;
  for (const Term t : f.required()) {
    if (f.is_false(t)) {
      decision.answer = Satisfiable::No;
      return decision;
    }
    all_true = all_true && f.is_true(t);
  }
  const auto is_empty = [](const Formula::Variable& v) { return v.is_bounded && v.hi < v.lo; };
  if (std::any_of(f.variables().begin(), f.variables().end(), is_empty)) {
    decision.answer = Satisfiable::No;
    return decision;
  }
  if (!all_true) return std::nullopt;
  decision.answer = Satisfiable::Yes;
  decision.model = least_point(f);
  return decision;
}

}  // namespace

// What is asked of the methods is the canonical form.
struct Prover::Question {
  const Formula& asked;  // as it was asked
  Canonical form;
  QuestionKey key;
};

struct Prover::Parts {
  AnswerCache cache;
  SolverChild child;

  Decision ask(const Question& q, Method method, const Budget& budget) {
    Decision decision;
    decision.method = to_text(method);
    if (method == Method::Enumeration) {
      const Enumerated e = enumerate(q.form.formula);
      decision.steps = static_cast<int64_t>(e.points);
      if (!e.is_known) {
        decision.why = "no value";
      } else {
        decision.answer = e.is_satisfiable ? Satisfiable::Yes : Satisfiable::No;
      }
      decision.model = e.model;
      return decision;
    }
    const SolverName solver = method == Method::Z3 ? SolverName::Z3 : SolverName::Cvc5;
    const int64_t steps = method == Method::Z3 ? budget.solver_steps : budget.cvc5_steps;
    const int64_t share = is_nonlinear(q.form.formula) ? kNonlinearShare : 1;
    Solved solved = child.ask(solver, q.form.bytes, steps / share, budget.watchdog_ms);
    decision.answer = solved.answer;
    decision.steps = solved.steps;
    decision.model = std::move(solved.model);
    decision.why = decision.answer == Satisfiable::Unknown ? cause_of(solved.why) : "";
    return decision;
  }

  // Reasons as they are counted: solvers word theirs in many ways.
  static std::string cause_of(const std::string& why) {
    for (const std::string_view known : {"watchdog", "crash", "no process"}) {
      if (why == known) return why;
    }
    const bool is_memory = why.find("memory") != std::string::npos;
    const bool is_given_up = why.find("incomplete") != std::string::npos;
    return is_memory ? "memory" : (is_given_up ? "incomplete" : "steps");
  }

  // The model in terms of the question's variables, if it satisfies; what nothing asks for is as
  // small as it can be.
  static std::optional<bool> restore_model(const Question& q, Decision& decision) {
    std::vector<Number> point = least_point(q.asked);
    for (size_t i = 0; i < q.form.origins.size() && i < decision.model.size(); i++) {
      point[q.form.origins[i]] = decision.model[i];
    }
    decision.model = std::move(point);
    for (size_t i = 0; i < q.asked.variables().size(); i++) {
      const Formula::Variable& v = q.asked.variables()[i];
      const Int128 n = decision.model[i].n;
      if (v.is_bounded && (n < v.lo || n > v.hi)) return false;
    }
    return Evaluation(q.asked).holds(decision.model);
  }
};

Prover::Prover(ProverOptions options)
    : options_(std::move(options)), parts_(std::make_unique<Parts>()) {
  if (options_.cache_file.empty()) return;
  const Result<bool> opened = parts_->cache.open(options_.cache_file);
  if (!opened.ok()) trouble_ = opened.error().message;
}

Prover::~Prover() = default;

namespace {

// Which methods are tried, in this order.
std::vector<Method> methods_for(const Formula& f, const ProverOptions& options) {
  std::vector<Method> methods;
  const Budget& budget = options.budget;
  const std::optional<uint64_t> points =
      count_points(f, std::max(budget.first_points, budget.last_points));
  const bool is_small = points && *points <= budget.first_points;
  const bool is_possible = points && *points <= budget.last_points;
  const bool floats = has_floats(f);
  if (options.asks_z3) methods.push_back(Method::Z3);
  if (is_small) methods.push_back(Method::Enumeration);
  // cvc5 rewrites what Z3 would search for in floats.
  if (floats) methods.push_back(Method::Cvc5);
  if (!options.asks_z3) methods.push_back(Method::Z3);
  if (!floats) methods.push_back(Method::Cvc5);
  if (is_possible && !is_small) methods.push_back(Method::Enumeration);
  return methods;
}

bool is_enough(const KnownAnswer& known, const ProverOptions& options) {
  const bool has_z3 =
      std::find(known.methods.begin(), known.methods.end(), "z3") != known.methods.end();
  return (!options.asks_z3 || has_z3) && (!options.is_doubled || known.methods.size() > 1);
}

// The name of a method that is kept as text.
std::string_view lasting(std::string_view method) {
  for (const Method m : {Method::Enumeration, Method::Z3, Method::Cvc5}) {
    if (method == to_text(m)) return to_text(m);
  }
  return "z3";
}

}  // namespace

Decision Prover::ask_all(const Formula& f) {
  Question q = {f, canonical(f), {}};
  q.key = key_of(q.form.bytes);
  const KnownAnswer* known = parts_->cache.find(q.key);
  const bool rechecks =
      options_.recheck_percent > 0 &&
      (q.key.low ^ options_.seed) % 100 < static_cast<uint64_t>(options_.recheck_percent);
  if (known != nullptr && !rechecks && is_enough(*known, options_)) {
    Decision decision;
    decision.answer = known->is_satisfiable ? Satisfiable::Yes : Satisfiable::No;
    decision.method = lasting(known->methods[0]);
    decision.is_from_cache = true;
    decision.model = known->model;
    if (!known->is_satisfiable || Parts::restore_model(q, decision).value_or(false)) {
      return decision;
    }
    disagree("a model from the cache satisfies nothing", f);
  }
  return ask_methods(q, known);
}

Decision Prover::ask_methods(const Question& q, const KnownAnswer* known) {
  Decision first;
  KnownAnswer answer;
  std::string why = "no method";
  for (const Method method : methods_for(q.form.formula, options_)) {
    Decision decision = parts_->ask(q, method, options_.budget);
    if (decision.answer == Satisfiable::Unknown) {
      why = fmt::format("{}: {}", decision.method, decision.why);
      continue;
    }
    const std::vector<Number> raw = decision.model;
    if (decision.answer == Satisfiable::Yes) {
      const std::optional<bool> holds = Parts::restore_model(q, decision);
      if (!holds.value_or(false)) {
        why = holds ? "wrong model" : "model without a value";
        if (holds) disagree(fmt::format("{} gives a model that is none", decision.method), q.asked);
        first.model = holds ? first.model : decision.model;
        continue;
      }
    }
    if (!answer.methods.empty() && first.answer != decision.answer) {
      disagree(fmt::format("{} and {} disagree", first.method, decision.method), q.asked);
      return unknown("methods disagree");
    }
    answer.methods.emplace_back(decision.method);
    if (answer.methods.size() == 1) {
      answer.is_satisfiable = decision.answer == Satisfiable::Yes;
      answer.model = raw;
      first = std::move(decision);
    }
    const bool is_settled = answer.methods.size() > (options_.is_doubled ? 1U : 0U);
    if (!is_settled) continue;
    if (known != nullptr && known->is_satisfiable != answer.is_satisfiable) {
      disagree("the cache has another answer", q.asked);
      return unknown("cache disagrees");
    }
    parts_->cache.keep(q.key, std::move(answer));
    return first;
  }
  Decision none = unknown(answer.methods.empty() ? why : "one method only");
  none.model = first.model;
  return none;
}

void Prover::disagree(std::string_view what, const Formula& f) {
  disagreements_.push_back(fmt::format("; {}\n{}", what, to_smtlib(f)));
}

Decision Prover::decide(const Formula& f, std::string_view kind) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<Decision> folded = decide_by_folding(f);
  Decision decision = folded ? std::move(*folded) : ask_all(f);
  Statistics& s = statistics_.try_emplace(std::string(kind)).first->second;
  s.asked++;
  s.no += decision.answer == Satisfiable::No ? 1 : 0;
  s.yes += decision.answer == Satisfiable::Yes ? 1 : 0;
  s.from_cache += decision.is_from_cache ? 1 : 0;
  s.steps += decision.is_from_cache ? 0 : decision.steps;
  if (decision.answer == Satisfiable::Unknown) {
    s.unknown++;
    s.unknown_by_cause.try_emplace(decision.why).first->second++;
  } else {
    s.by_method.try_emplace(std::string(decision.method)).first->second++;
  }
  s.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return decision;
}

}  // namespace assay::smt
