#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/codegen/seen.h"
#include "engine/schedule/seen.h"
#include "engine/uop/target.h"
#include "engine/uop/watch.h"
#include "oracles/smt/prover.h"
#include "oracles/verdict.h"

namespace assay::props {

struct FiringMemo;

using oracles::Answer;
using oracles::Strength;
using oracles::Verdict;

// What a check needs beside the stage that it judges.
struct Context {
  smt::Prover& prover;
  const uop::Target& target;      // its limits and its memory contract
  uint64_t seed = 1;              // of inputs that are sampled
  bool confirms = true;           // a witness is run before it is called one
  FiringMemo* firings = nullptr;  // what is known of firings, from one to the next
};

// A file that shows a failure to whoever runs it: a kernel, a program, a question.
struct Evidence {
  std::string suffix;  // "race.uop", "bounds.smt2"
  std::string text;
};

// What a property says of one subject. Its verdict is the worst of its obligations: one that fails
// fails it, one that is unknown leaves it unknown; it is as strong as the weakest.
struct Checked {
  Verdict verdict = {Answer::Pass, Strength::Proved, ""};
  int64_t obligations = 0;
  int64_t unknown = 0;                                    // of them
  std::map<std::string, int64_t, std::less<>> by_method;  // what decided how many
  std::map<std::string, int64_t, std::less<>> by_cause;   // why how many are unknown
  // Of a failure: what its witnesses have in common, for telling one fault from another.
  std::string shape;
  std::vector<std::string> listed;  // no failures: edges and barriers that nothing needs
  std::vector<Evidence> evidence;   // of a failure

  // Counts one obligation and folds its verdict in. The evidence of the first failure, or else of
  // the first unknown, is kept. `method` is one of prover.h, or the name of a method of the
  // property's own: "reachability", "affine", "execution"; of what is unknown it is the cause.
  void add(const Verdict& obligation, std::string_view method);
  // An obligation whose cause of not being known is named, as records count it.
  void add_unknown(std::string_view cause, std::string why);
};

template <typename Seen>
using Check = Checked (*)(const Seen& seen, Context& context);

// One thing that must hold at one stage, which is the type of what its check is shown.
struct Property {
  std::string_view name;
  std::string_view claim;  // the sentence that a report prints
  std::variant<Check<uop::RuleSeen>, Check<uop::PassSeen>, Check<schedule::ScheduleSeen>,
               Check<schedule::PlanSeen>, Check<schedule::CacheSeen>, Check<codegen::KernelSeen>>
      check;
  // It costs more than to compile and run what it judges: a campaign asks it of some cases only.
  bool is_dear = false;
};

std::span<const Property> all_properties();
// The same, to choose from.
std::vector<const Property*> every_property();
// The property of this name, or null.
const Property* find_property(std::string_view name);

}  // namespace assay::props
