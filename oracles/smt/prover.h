#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/smt/formula.h"
#include "oracles/smt/solver.h"
#include "oracles/verdict.h"

namespace assay::smt {

struct KnownAnswer;

// What became of a question.
struct Decision {
  Satisfiable answer = Satisfiable::Unknown;
  // Values of the formula's variables, by their place, for which all that is required holds:
  // evaluated and found so (evaluate.h), not believed.
  std::vector<Number> model;
  std::string_view method = "";  // "folding", "enumeration", "z3", "cvc5"
  bool is_from_cache = false;
  int64_t steps = 0;  // points, or what the solver counts
  std::string why;    // of Unknown: "steps", "watchdog", "crash", …
};

struct Budget {
  uint64_t first_points = uint64_t{1} << 18;  // enumerated before a solver is asked
  uint64_t last_points = uint64_t{1} << 22;   // and after none knew
  int64_t solver_steps = 4'000'000;           // of Z3, as it counts them
  int64_t cvc5_steps = 1'000'000;             // of cvc5, whose steps are longer
  int64_t watchdog_ms = 10'000;               // after which either is killed
};

struct ProverOptions {
  Budget budget = {};
  bool is_doubled = false;      // two methods must agree
  bool asks_z3 = false;         // Z3 decides, or is the second of two, whatever else could
  std::string cache_file = {};  // "": answers are kept in memory alone
  int recheck_percent = 0;      // of what the cache holds, proved again and compared
  uint64_t seed = 1;            // of which are
};

// Of the questions of one kind.
struct Statistics {
  int64_t asked = 0;
  int64_t no = 0, yes = 0, unknown = 0;
  int64_t from_cache = 0;
  std::map<std::string, int64_t, std::less<>> by_method;  // what decided
  std::map<std::string, int64_t, std::less<>> unknown_by_cause;
  int64_t steps = 0;
  double seconds = 0;  // never part of a verdict
};

// The one who decides questions: by folding, by enumeration where there are few points, then by
// solvers, which run in a child process, so that none can hang or take this process down. Answers
// are a function of the question and the budget, unless a watchdog had to act.
class Prover {
 public:
  explicit Prover(ProverOptions options = {});
  ~Prover();
  Prover(const Prover&) = delete;
  Prover& operator=(const Prover&) = delete;

  // `kind` says for the statistics what was asked: "race", "bounds", "rule", …
  Decision decide(const Formula& f, std::string_view kind);

  const ProverOptions& options() const { return options_; }
  const std::map<std::string, Statistics, std::less<>>& statistics() const { return statistics_; }
  // Why the cache's file is not used, if it is not.
  const std::string& trouble() const { return trouble_; }
  // Methods that disagreed, models that do not satisfy, cached answers that are none: each a
  // finding against the harness, with the question as SMT-LIB.
  const std::vector<std::string>& disagreements() const { return disagreements_; }

 private:
  struct Parts;
  struct Question;
  Decision ask_all(const Formula& f);
  Decision ask_methods(const Question& question, const KnownAnswer* known);
  void disagree(std::string_view what, const Formula& f);

  ProverOptions options_;
  std::unique_ptr<Parts> parts_;
  std::map<std::string, Statistics, std::less<>> statistics_;
  std::vector<std::string> disagreements_;
  std::string trouble_;
};

}  // namespace assay::smt
