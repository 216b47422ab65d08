#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "oracles/smt/prover.h"
#include "props/schedule/call_order.h"

namespace assay::props {

// What a solver says of pairs of calls: each call has a position, each edge goes forward, and one
// of the pairs runs the wrong way around.
struct SolvedOrder {
  std::vector<CallPair> open;  // there is such an order; sorted
  std::vector<CallPair> unknown;
  std::map<std::string, int64_t, std::less<>> by_method;  // what decided how many pairs
  std::string why;                                        // of the first that is unknown
};
SolvedOrder solve_order(const CallOrder& order, std::vector<CallPair> pairs, smt::Prover& prover);

}  // namespace assay::props
