#pragma once

#include <functional>
#include <span>

#include "engine/uop/rule.h"
#include "fuzz/commands/command.h"

namespace assay::fuzz {

// Adds the options of `assay prove` to `app`; what is returned proves the rules of these sets, or
// those that the options give as text.
std::function<ExitCode()> declare_prove(CLI::App& app, std::span<const uop::RuleSet* const> sets);

}  // namespace assay::fuzz
