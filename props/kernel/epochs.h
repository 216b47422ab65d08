#pragma once

#include <span>
#include <vector>

#include "props/kernel/question.h"

namespace assay::props::kernel {

// Where something stands among barriers: its line, and its scope.
struct Spot {
  int line;
  int scope;
};

// A way in which two work-items of a group may come to two spots, the one before the other, with no
// barrier between: barriers are passed by all of a group together, so the counters of the loops
// that hold barriers say how many of them there were. `turn` is the place, among the loops with
// barriers around both spots, of the one that has gone on by an iteration; -1 where none has.
struct Meeting {
  int first;  // the point of the question that comes first
  int turn = -1;
};

// All ways there could be, as far as loops go.
std::vector<Meeting> meetings(const KernelModel& model, const Spot& a, const Spot& b);

// Requires of the question that points 0 and 1, at spots a and b, meet in this way. False where a
// barrier that all pass stands between whatever the counters.
bool require_meeting(Question& question, KernelModel& model, const Spot& a, const Spot& b,
                     const Meeting& meeting);

}  // namespace assay::props::kernel
