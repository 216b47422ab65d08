#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/score/score.h"
#include "fuzz/trial/line_process.h"

namespace assay::fuzz {

// Serves scores on standard input and output, a line of JSON each way, until the input ends:
//
//   {"fault": NAME, "first": N}                    it is looked for from that case on
//   {"fault": NAME, "case": N, "planted": BOOL}    the case is tried once more
//
// What comes back are lines {"so_far": …} before each case, {"at": STAGE} or {"fired": RULE} while
// a case is tried once more, and at the end {"done": …}.
int serve_scores(const std::vector<Fault>& faults, const ScoreOptions& options);

// Scores in a process of their own: a fault under which the compiler crashes or hangs is found by
// that, and costs the process.
class ScoreChild {
 public:
  // `command` starts a process that serves scores of these options.
  ScoreChild(std::vector<std::string> command, const ScoreOptions& options);

  Scored score(const Fault& fault);

 private:
  // What a request came to: its last words, and how the process ended where it did.
  struct Answer {
    std::string said;  // a Scored, as JSON
    bool is_done = false;
    std::string at;  // the last stage, and the last rule after it
    std::string fired;
    std::string how;    // the process ended
    std::string shape;  // "crash" or "hang"
  };
  Answer ask(const std::string& request);
  Answer lost(Answer answer, std::string_view shape);
  // Under what a process is lost on a case again: under the fault alone, without it too, or not.
  enum class Loss : uint8_t { OfFault, OfCase, Once };
  Loss loss_of(const Fault& fault, int64_t number, Answer& again);

  LineProcess process_;
  const ScoreOptions& options_;
};

}  // namespace assay::fuzz
