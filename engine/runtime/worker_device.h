#pragma once

#include "engine/runtime/devices.h"

namespace assay::runtime {

// `worker:COMMAND`: the device of a child process, which is COMMAND run as split_words() has it and
// speaks the protocol on its standard input and output. What the child or its driver does costs the
// child alone:
//
//   crashes, ends, closes its output     lost, with how it ended
//   does not answer in time              timeout, and it is killed
//   what it says is no frame, is of another version, has a wrong checksum, is cut short, answers
//   another request or is malformed      lost, and it is killed
//
// reopen() starts another one.
const DeviceKind& worker_kind();

}  // namespace assay::runtime
