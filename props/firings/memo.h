#pragma once

#include <string>
#include <unordered_map>

#include "engine/uop/key.h"
#include "oracles/verdict.h"

namespace assay::props {

// What became of one obligation.
struct Outcome {
  oracles::Verdict verdict;
  std::string method;  // what decided; of an unknown verdict its cause
};

// What is known of pairs of nodes, by their structure up to names and numbers: of scalar terms all,
// of other nodes what passed, since what fails is shown as it stands. Only searched, and none of it
// depends on what was asked before.
struct FiringMemo {
  struct KeyHash {
    size_t operator()(const uop::Key& k) const { return static_cast<size_t>(k.low ^ k.high); }
  };
  std::unordered_map<uop::Key, Outcome, KeyHash> known;
};

}  // namespace assay::props
