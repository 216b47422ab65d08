#pragma once

#include "props/kernel/subject.h"

// The properties of kernel_props.h, of a list that was read.
namespace assay::props::kernel {

Checked check_races(const Subject& subject);
Checked check_barriers(const Subject& subject);
Checked check_bounds(const Subject& subject);
Checked check_alignment(const Subject& subject);
Checked check_reads(const Subject& subject);
Checked check_spare_barriers(const Subject& subject);
// `scheduled` is the kernel before code generation.
Checked check_stores(const Subject& subject, uop::Ref scheduled);

}  // namespace assay::props::kernel
