#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/runtime/devices.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/watch.h"
#include "fuzz/trial/case.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {

// Where a case begins to go wrong.
struct Blame {
  // The first stage whose meaning differs from that of the one before: "tensor", "schedule",
  // "linear", "planned", "kernel" (of a pass of code generation), "render", "run"; or "refusal".
  std::string stage;
  std::string pass;        // by name; "" where the stage is no pass
  std::string rule;        // full name; "" where no firing is to blame
  uint64_t firing = 0;     // of the pass, from 1: with one less it does not go wrong
  int64_t kernel = -1;     // its place in the LINEAR, where it is a kernel's
  std::string title;       // of a finding: what became of what
  std::string evidence;    // what differs, in words
  bool is_walked = false;  // a stage differs from the one before, whoever else found something

  // The closest name that is known: rule, else pass, else stage.
  const std::string& nearest() const;
};

// Walks through the stages of a case that fails, each interpreted and compared with the one before,
// as far as the finding leaves open where to look. The switches and the watch are those it failed
// with.
Blame bisect(const Case& c, const Finding& finding,
             std::span<const runtime::DeviceKind* const> kinds, const uop::Switches& switches = {},
             uop::Watch* watch = nullptr);

}  // namespace assay::fuzz
