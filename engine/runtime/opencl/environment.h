#pragma once

#include <string>

#include "engine/result.h"

namespace assay::runtime::opencl {

// Sets up, before the first call of OpenCL in this process, what drivers read from the environment.
// What the user has set stays. All that drivers write goes to `cache`; where that is "", to a
// temporary folder that is removed at exit, or by a later process where this one is killed. Later
// calls change nothing.
//
//   POCL_CACHE_DIR        cache/pocl, so that nothing is left in the user's own
//   POCL_DEVICES          two of `pthread`, which overlaps what may overlap, and two of `basic`,
//                         which runs in order and in the calling thread
//   POCL_SIGFPE_HANDLER   0: a kernel that traps is at fault, and must not look as if it were not
//   OCL_ICD_VENDORS       a folder with what /etc/OpenCL/vendors lists but Mesa's, whose start
//                         takes long and leaks, and Oclgrind, which lists itself nowhere
//   OCLGRIND_*            its checks, and a log in the cache. Reads of what nobody wrote are not
//                         looked for: that check reports vectors that Oclgrind itself makes up
//                         when it stores one, stops at instructions it does not know, and crashes
Result<bool> prepare_environment(const std::string& cache);

// The folder in use, once prepared.
const std::string& cache_folder();
// What Oclgrind has found since the last call. It writes its log anew for each context that is
// made, which is to be said here.
std::string oclgrind_findings();
void oclgrind_begins_anew();

}  // namespace assay::runtime::opencl
