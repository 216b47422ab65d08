#pragma once

#include "engine/uop/spec.h"

namespace assay::codegen {

// What a kernel is made of between passes (README.md, Forms), from the schedule's form to the list.
const uop::Spec& scheduled_form();
const uop::Spec& tiled_form();
const uop::Spec& expanded_form();
const uop::Spec& reduced_form();
const uop::Spec& unstaged_form();
const uop::Spec& placed_form();
const uop::Spec& loads_form();
const uop::Spec& scalar_form();
const uop::Spec& vectors_form();
const uop::Spec& lowered_form();
const uop::Spec& gated_form();
const uop::Spec& looped_form();
const uop::Spec& linear_form();

}  // namespace assay::codegen
