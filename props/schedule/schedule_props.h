#pragma once

#include "engine/schedule/seen.h"
#include "props/property.h"

// Properties of schedules and memory plans (README.md).
namespace assay::props {

// The LINEAR of a kernel graph runs its kernels, each once, and in every order that its edges allow
// each of them finds the versions that it takes.
Checked schedule_order(const schedule::ScheduleSeen& seen, Context& context);

}  // namespace assay::props
