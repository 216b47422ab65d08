#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/devices.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/watch.h"
#include "fuzz/case.h"
#include "props/property.h"

namespace assay::fuzz {

// What is wrong with a case, as far as it tells one cause from another.
struct Finding {
  std::string judge;     // "reference", "machine", "spec", "refusal", or a property
  std::string stage;     // where it shows: "tensor", "kernels", "planned", "device", a pass, a rule
  std::string shape;     // of the witness: "race LOCAL store/load", "value f32"
  std::string evidence;  // the witness, in words
  std::vector<props::Evidence> files = {};
};
// Whether two are found by the same judge at the same stage with witnesses of one shape: what a
// case that is made smaller has to keep.
bool is_same(const Finding& a, const Finding& b);

struct Outcome {
  std::vector<Finding> findings;
  std::map<std::string, int64_t, std::less<>> unknown;  // by cause
  std::string malformed;                                // why it is no case
  int64_t kernels = 0;
  int64_t sharing = 0;  // of them, with LOCAL storage and a barrier
  int64_t obligations = 0;
  int64_t elements = 0, unspecified = 0, ambiguous = 0;  // compared
};

struct TrialOptions {
  std::span<const runtime::DeviceKind* const> kinds;  // of devices that a case may name
  std::vector<const props::Property*> properties =
      {};                // asked of each case; dear ones of one in 64
  bool stages = true;    // each stage is interpreted, not what the device computes alone
  int64_t limit_ms = 0;  // for what a device is given at once; 0: for ever
  std::string opencl_cache = {};
  smt::ProverOptions prover = {};
};

// What a case is taken through, and who looks on: compiled, run, judged by the reference and by
// properties. Devices, provers and what is known of equal kernels serve one case after the other;
// the outcome of a case does not depend on those before it.
class Trial {
 public:
  explicit Trial(TrialOptions options = {});
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // `watch` sees and may edit what is compiled: coverage, faults.
  Outcome run(const Case& c, const uop::Switches& switches = {}, uop::Watch* watch = nullptr);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Several who look on, in turn.
class Watches : public uop::Watch {
 public:
  explicit Watches(std::vector<uop::Watch*> watches) : watches_(std::move(watches)) {}

  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override;
  void edit_source(std::string& text) override;
  void edit_batch(runtime::Batch& batch) override;
  bool edits() const override;
  void seen(const uop::RuleSeen& seen) override;
  void seen(const uop::PassSeen& seen) override;
  void seen(const schedule::CacheSeen& seen) override;
  void seen(const schedule::ScheduleSeen& seen) override;
  void seen(const schedule::PlanSeen& seen) override;
  void seen(const codegen::KernelSeen& seen) override;
  void seen(const render::SourceSeen& seen) override;
  void seen(const runtime::LaunchSeen& seen) override;

 private:
  template <typename Seen>
  void show(const Seen& seen) {
    for (uop::Watch* w : watches_) w->seen(seen);
  }

  std::vector<uop::Watch*> watches_;
};

}  // namespace assay::fuzz
