#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/child.h"
#include "engine/runtime/devices.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/watch.h"
#include "fuzz/trial/case.h"
#include "props/property.h"

namespace assay::oracles {
struct CheckOptions;
struct KernelOptions;
}  // namespace assay::oracles

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

// Where the time of a case goes: nanoseconds by "compile", "run", "reference", "stages"
// (interpreted), "compare", "properties", "coverage", "rules" and more.
using Spending = std::map<std::string, int64_t, std::less<>>;

struct Outcome {
  std::vector<Finding> findings;
  std::map<std::string, int64_t, std::less<>> unknown;  // by cause
  std::string malformed;                                // why it is no case
  int64_t kernels = 0;
  int64_t sharing = 0;  // of them, with LOCAL storage and a barrier
  int64_t obligations = 0;
  int64_t elements = 0, unspecified = 0, ambiguous = 0;  // compared
  std::vector<uint32_t> features = {};  // that the process saw here first (fuzz/coverage)
  Spending spent = {};
};

struct TrialOptions {
  std::span<const runtime::DeviceKind* const> kinds;    // of devices that a case may name
  std::vector<const props::Property*> properties = {};  // asked of each case
  uint64_t dear_every = 64;   // but dear ones of one in so many, by its seed
  bool stages = true;         // each stage is interpreted, not what the device computes alone
  uint64_t stages_every = 1;  // but of one case in so many, by its seed
  int64_t limit_ms = 0;       // for what a device is given at once; 0: for ever
  std::string opencl_cache = {};
  smt::ProverOptions prover = {};
};

// With what the devices of a case are opened: its profile and its seed.
runtime::OpenOptions open_options(const Case& c);

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
  const TrialOptions& options() const { return options_; }
  // Has drivers compile the kernels of cases that are about to be run, all at once, which takes
  // them a fraction of the time. The outcome of a case does not depend on it, nor on the other
  // cases.
  void foresee(std::span<const Case> cases, const uop::Switches& switches = {});

 private:
  struct Parts;
  struct Job;
  Result<Job> job_of(const Case& c, const uop::Switches& switches);
  oracles::CheckOptions program_options(const Job& job, uop::Watch& watch) const;
  oracles::KernelOptions kernel_options(const Job& job, uop::Watch& watch) const;
  void run_program(const Job& job, uop::Watch& watch, Outcome& outcome);
  void run_kernel(const Job& job, uop::Watch& watch, Outcome& outcome);
  void run_terms(const Case& c, const uop::Switches& switches, uop::Watch* watch, Outcome& outcome);

  TrialOptions options_;
  int64_t cases_ = 0;  // that parts_ served
  std::unique_ptr<Parts> parts_;
};

// Several who look on, in turn.
class Watches : public uop::Watch {
 public:
  // Null ones are left out.
  explicit Watches(std::vector<uop::Watch*> watches) : watches_(std::move(watches)) {
    std::erase(watches_, nullptr);
    spent_.resize(watches_.size());
  }

  // Nanoseconds that each of them took over all but firings, of which there are too many to time.
  const std::vector<int64_t>& spent() const { return spent_; }

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
    int64_t begin = runtime::now_ns();
    for (size_t i = 0; i < watches_.size(); i++) {
      watches_[i]->seen(seen);
      const int64_t end = runtime::now_ns();
      spent_[i] += end - begin;
      begin = end;
    }
  }

  std::vector<uop::Watch*> watches_;
  std::vector<int64_t> spent_;
};

}  // namespace assay::fuzz
