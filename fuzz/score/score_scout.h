#pragma once

#include <string>

#include "engine/runtime/devices.h"
#include "engine/uop/watch.h"
#include "fuzz/fault/fault.h"

// Whether a fault of the text of kernels would change any of a case, before a driver compiles them.
namespace assay::fuzz {

// `like:cl:NAME`: a simulated device whose kernels are made for that driver's target.
const runtime::DeviceKind& scout_kind();

// Renders the kernels that it sees, and counts those whose text the fault changes.
class TextScout : public uop::Watch {
 public:
  TextScout(const Fault& fault, const uop::Target& target)
      : edit_(std::get<Text>(fault.how).edit), target_(target) {}

  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override;
  int changes() const { return changes_; }

 private:
  void (*edit_)(std::string& text);
  const uop::Target& target_;
  int changes_ = 0;
};

}  // namespace assay::fuzz
