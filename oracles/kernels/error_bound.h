#pragma once

#include <string>

#include "engine/uop/uop.h"

namespace assay::oracles {

// How far correct devices may differ in what a kernel of the schedule stores.
struct ErrorBound {
  // The largest distance of two results. 0 where every number on the way is an integer that its
  // type holds, so that no order and no rounding shows.
  double most = 0;
  // Why results may differ by more: a jump at an inexact number, or what may be unspecified. ""
  // where they may not.
  std::string undecided;
};

// Where each PARAM holds integers from -`largest` to `largest`.
ErrorBound error_bound(uop::Graph& g, uop::Ref kernel, double largest);

}  // namespace assay::oracles
