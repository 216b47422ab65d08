#pragma once

#include <memory>
#include <string>

#include "engine/result.h"
#include "fuzz/fault/fault.h"

namespace CLI {
class App;
}

namespace assay::fuzz {

// --fault NAME: the compiler has this fault, so that what finds it can be tried.
void add_fault(CLI::App& app, std::string& name);

// Plants it: the switches substitute its rule, the watch edits. Null where no name is given; an
// error where no fault has it.
Result<std::unique_ptr<Planted>> plant(const std::string& name, uop::Switches& switches);

}  // namespace assay::fuzz
