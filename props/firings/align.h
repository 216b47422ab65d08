#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "props/firings/checker.h"

namespace assay::props {

// What of two graphs is proved to be equal, access by access.
struct Aligned {
  // Whether what is no scalar term (INDEX, LOAD, STORE, END, REDUCE, …) is the same list of
  // operations in both, so that the first is paired with the first, and so on.
  bool is_one_to_one = false;
  int64_t proved = 0;  // scalar terms of paired nodes: indices, gates, values
  int64_t open = 0;    // that no method proved to be equal
  std::map<std::string, int64_t, std::less<>> by_method;
  std::string first_open;  // the first of those that are open

  // Then both graphs mean the same: each pair does, given that those below it do.
  bool is_proved() const { return is_one_to_one && open == 0; }
};

// Pairs the nodes of two kernels in the order of their toposorts, and asks of each pair whether the
// scalar terms among its sources are equal where those of the pairs below stand for one value.
// Counters of the same number or name are one, of whatever integer type.
Aligned align(uop::Graph& g, uop::Ref before, uop::Ref after, Context& context);

}  // namespace assay::props
