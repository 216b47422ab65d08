#include "fuzz/score/score_scout.h"

#include <fmt/format.h>

#include "engine/codegen/seen.h"
#include "engine/runtime/opencl/device.h"
#include "engine/runtime/source.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

Result<std::unique_ptr<runtime::Device>> open_scout(std::string_view rest,
                                                    const runtime::OpenOptions& options) {
  const runtime::DeviceKind* const kinds[] = {&runtime::opencl::opencl_kind()};
  ASSAY_TRY(driver, runtime::open_device(kinds, rest, options));
  workgroup::SimOptions sim;
  sim.name = fmt::format("like:{}", rest);
  sim.target = driver->target();
  return workgroup::make_sim(std::move(sim));
}

Result<std::vector<runtime::Listed>> list_scouts(const runtime::OpenOptions&) {
  return std::vector<runtime::Listed>{};
}

}  // namespace

const runtime::DeviceKind& scout_kind() {
  static constexpr runtime::DeviceKind kKind = {
      "like", "simulated devices with the targets of drivers", open_scout, list_scouts};
  return kKind;
}

void TextScout::seen(const codegen::KernelSeen& seen) {
  const Result<runtime::KernelText> text =
      runtime::render_kernel(seen.graph, seen.linear, target_, "k", nullptr);
  if (!text.ok()) return;
  std::string edited = text.value().text;
  edit_(edited);
  changes_ += edited == text.value().text ? 0 : 1;
}

}  // namespace assay::fuzz
