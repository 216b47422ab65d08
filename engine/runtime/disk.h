#pragma once

#include "engine/runtime/devices.h"

namespace assay::runtime {

// `disk:PATH`: storage that is a file. The first is PATH itself, whose bytes are there from the
// start if the file is, and zero where it is too short; what is needed beside it are PATH.1,
// PATH.2, and so on. Files stay. No kernel runs there.
const DeviceKind& disk_kind();

}  // namespace assay::runtime
