#include "fuzz/commands/fault_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/fault/mutants.h"

namespace assay::fuzz {

void add_fault(CLI::App& app, std::string& name) {
  app.add_option("--fault", name, "plant this fault (assay score --list)")->type_name("NAME");
}

Result<std::unique_ptr<Planted>> plant(const std::string& name, uop::Switches& switches) {
  if (name.empty()) return std::unique_ptr<Planted>();
  const std::vector<Fault> all = every_fault();
  const auto at = std::ranges::find(all, name, &Fault::name);
  if (at == all.end()) return Error{fmt::format("no fault is named '{}'", name)};
  auto planted = std::make_unique<Planted>(*at);
  switches.substitutes = planted->switches().substitutes;
  return planted;
}

}  // namespace assay::fuzz
