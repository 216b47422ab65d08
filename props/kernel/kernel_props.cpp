#include "props/kernel/kernel_props.h"

#include <fmt/format.h>

#include <algorithm>

#include "props/kernel/checks.h"

namespace assay::props {

using kernel::KernelModel;
using kernel::Subject;

namespace {

template <typename F>
Checked of_linear(const codegen::KernelSeen& seen, Context& context, F check) {
  const auto model = KernelModel::read(seen.graph, seen.linear);
  if (!model.ok()) {
    Checked checked;
    checked.add_unknown("no list", to_string(model.error()));
    return checked;
  }
  return check(Subject{seen.graph, seen.linear, *model.value(), context, context.target});
}

}  // namespace

Checked kernel_races(const codegen::KernelSeen& seen, Context& context) {
  return of_linear(seen, context, kernel::check_races);
}
Checked kernel_barriers(const codegen::KernelSeen& seen, Context& context) {
  return of_linear(seen, context, kernel::check_barriers);
}
Checked kernel_bounds(const codegen::KernelSeen& seen, Context& context) {
  return of_linear(seen, context, kernel::check_bounds);
}
Checked kernel_alignment(const codegen::KernelSeen& seen, Context& context) {
  return of_linear(seen, context, kernel::check_alignment);
}
Checked kernel_reads(const codegen::KernelSeen& seen, Context& context) {
  return of_linear(seen, context, kernel::check_reads);
}
Checked kernel_spare_barriers(const codegen::KernelSeen& seen, Context& context) {
  return of_linear(seen, context, kernel::check_spare_barriers);
}
Checked kernel_stores(const codegen::KernelSeen& seen, Context& context) {
  return of_linear(seen, context, [&](const Subject& subject) {
    return kernel::check_stores(subject, seen.kernel);
  });
}

Result<KernelFileChecked> check_kernel_file(workgroup::KernelFile& file, Context& context) {
  kernel::ModelOptions options;
  options.launch = file.launch;
  options.variables = file.variables;
  options.has_file_arguments = true;
  for (const auto& [slot, numbers] : file.contents) options.other_arguments.insert(slot);
  for (const auto& [slot, alias] : file.aliases)
    options.shared.push_back({slot, alias.slot, alias.offset});
  ASSAY_TRY(model, KernelModel::read(file.graph, file.linear, options));
  std::set<std::string> refuted;
  const Subject subject = {file.graph, file.linear, *model, context, file.target, &file, &refuted};
  KernelFileChecked all;
  all.properties = {{"kernel_races", kernel::check_races(subject)},
                    {"kernel_barriers", kernel::check_barriers(subject)},
                    {"kernel_bounds", kernel::check_bounds(subject)},
                    {"kernel_alignment", kernel::check_alignment(subject)},
                    {"kernel_reads", kernel::check_reads(subject)}};
  for (const std::string& expected : file.expected) {
    if (refuted.count(expected) == 0) all.difference += fmt::format("not refuted: {}\n", expected);
  }
  for (const std::string& found : refuted) {
    const auto is_in = [&](const std::vector<std::string>& said) {
      return std::ranges::find(said, found) != said.end();
    };
    if (is_in(file.expected) || is_in(file.allowed)) continue;
    all.difference += fmt::format("refuted, not expected: {}\n", found);
    all.unexpected.push_back(found);
  }
  for (const FileChecked& p : all.properties) {
    for (const auto& [cause, times] : p.checked.by_cause)
      all.difference += fmt::format("{}: {} unknown: {}\n", p.property, times, cause);
  }
  return all;
}

}  // namespace assay::props
