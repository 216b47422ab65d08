#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "oracles/smt/solver.h"

namespace assay::smt {

enum class SolverName : uint8_t { Z3, Cvc5 };
std::string_view to_text(SolverName name);

// A process of its own that asks solvers: what hangs, crashes or takes all memory there costs one
// question. It is forked when it is first needed, and again after each that did not end well.
class SolverChild {
 public:
  SolverChild() = default;
  SolverChild(const SolverChild&) = delete;
  SolverChild& operator=(const SolverChild&) = delete;
  ~SolverChild();

  // What the solver says of a question (canonical.h, bytes) whose variables have these sorts. After
  // `limit_ms` of the wall's clock it is killed: unknown, "watchdog".
  Solved ask(SolverName solver, std::string_view question, int64_t steps, int64_t limit_ms);

 private:
  bool start();
  void stop();

  pid_t pid_ = -1;
  int fd_ = -1;
};

}  // namespace assay::smt
