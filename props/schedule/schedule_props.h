#pragma once

#include "engine/schedule/seen.h"
#include "props/property.h"

// Properties of schedules and memory plans (README.md).
namespace assay::props {

// The LINEAR of a kernel graph runs its kernels, each once, and in every order that its edges allow
// each of them finds the versions that it takes.
Checked schedule_order(const schedule::ScheduleSeen& seen, Context& context);

// In every order that the edges of the LINEAR over the session's storage allow, each call finds the
// bytes that it finds in the order of the list: after nested calls are resolved, before memory is
// planned.
Checked linear_order(const schedule::PlanSeen& seen, Context& context);
// The same over arenas: bytes that several buffers have in turn included.
Checked plan_order(const schedule::PlanSeen& seen, Context& context);
// A plan moves storage and nothing else: what others hold and what is excluded stays where it is,
// each other buffer has bytes of an arena of its device and lane, as many as it needs, from a
// multiple of 256 on, that are no other's while it is in use; and what the plan says of itself, its
// peak and the lower bound of it, is so.
Checked plan_layout(const schedule::PlanSeen& seen, Context& context);

// A LINEAR that is served from the cache is the one that would be made afresh, but for the numbers
// of ranges and storage. Of a look-up that is no hit there is nothing to say.
Checked schedule_cache(const schedule::CacheSeen& seen, Context& context);

}  // namespace assay::props
