#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/uop/uop.h"

namespace assay::codegen {
struct KernelSeen;
}
namespace assay::render {
struct SourceSeen;
}
namespace assay::runtime {
struct Batch;
struct LaunchSeen;
}  // namespace assay::runtime
namespace assay::schedule {
struct CacheSeen;
struct PlanSeen;
struct ScheduleSeen;
}  // namespace assay::schedule

namespace assay::uop {

struct Rule;
class RuleSet;
struct Pass;

// A rule fired: `after` took the place of `before`.
struct RuleSeen {
  Graph& graph;
  const RuleSet& set;
  const Rule& rule;
  Ref before;
  Ref after;
  uint64_t firing;  // counted over the whole run, from 1
};

// A pass ran. `breach` says what of its spec was broken, if anything was.
struct PassSeen {
  const Pass& pass;
  Graph& graph;
  Ref before;
  Ref after;
  uint64_t firings;
  const std::optional<std::string>& breach;
};

// Who looks on while the compiler works. The compiler calls it and knows nothing of it: checking,
// coverage, blame and seeded faults are watches.
class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;

  // May put another graph in the place of what a stage made. Seeded faults live here.
  virtual Ref edit(std::string_view stage, Graph& g, Ref u);
  // The same of a kernel's text, as it was rendered, and of what a device is about to be given to
  // do: as many commands stay.
  virtual void edit_source(std::string& text);
  virtual void edit_batch(runtime::Batch& batch);
  // Whether these may do so: what is made then must not be kept for others. Who overrides one of
  // them overrides this.
  virtual bool edits() const;
  virtual void seen(const RuleSeen& seen);
  virtual void seen(const PassSeen& seen);
  // Of schedule/seen.h.
  virtual void seen(const schedule::CacheSeen& seen);
  virtual void seen(const schedule::ScheduleSeen& seen);
  virtual void seen(const schedule::PlanSeen& seen);
  // Of codegen/seen.h, render/seen.h and runtime/seen.h.
  virtual void seen(const codegen::KernelSeen& seen);
  virtual void seen(const render::SourceSeen& seen);
  virtual void seen(const runtime::LaunchSeen& seen);
};

}  // namespace assay::uop
