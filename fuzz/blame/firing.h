#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/uop/pass.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/watch.h"

namespace assay::fuzz {

// A firing without which a pass does not go wrong.
struct Firing {
  std::string rule;     // full name; "" where the pass goes wrong with none
  uint64_t number = 0;  // in the pass, from 1
  std::string title;    // what it made of what
};

// Runs the pass again on what it was given, with fewer and fewer firings, and finds the first with
// which `is_wrong` says of what is left: the pass as `seen`, the graph that it left.
Firing find_firing(const uop::PassSeen& seen, const uop::Switches& switches, uop::Watch* watch,
                   const uop::Target& target,
                   const std::function<bool(const uop::PassSeen& again)>& is_wrong);

}  // namespace assay::fuzz
