#pragma once

#include "engine/uop/rewrite.h"
#include "engine/uop/watch.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {

// How a campaign tries its cases: every property, the dear ones of one case in 128.
TrialOptions campaign_trial(std::span<const runtime::DeviceKind* const> kinds);

// Serves trials on standard input and output, a line of JSON each way, until the input ends:
//
//   {"case": TEXT}                    the case is tried; its outcome comes back, with the features
//                                     that no case before had
//   {"case": TEXT, "again": true}     the same without features
//   {"case": TEXT, "finding": TEXT, "known": [TEXT…]}
//                                     what is behind the finding comes back: but its cause where
//                                     that is one of those known
//
// What is no request ends it. Standard output belongs to the protocol. The switches and the watch
// are part of what is tried: a fault.
int serve_trials(Trial& trial, const uop::Switches& switches = {}, uop::Watch* watch = nullptr);

}  // namespace assay::fuzz
