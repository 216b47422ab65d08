#pragma once

#include "engine/result.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/workgroup/finding.h"
#include "oracles/workgroup/program.h"

namespace assay::workgroup {

// Whom a program is made for.
struct Maker {
  const interpreter::Variables& variables;
  const Launch& launch;
  const uop::Target& target;
  const Adversary* adversary;  // none where it is null
  bool is_one_group;           // whether a strand's work-items are always of one group
};

// The program of a LINEAR. An error names the node that does not belong into one.
Result<Program> decode(uop::Graph& g, uop::Ref linear, const Maker& maker);

// Gives registers of work-items that are never needed at the same time one place.
void allocate(Program& program);

}  // namespace assay::workgroup
