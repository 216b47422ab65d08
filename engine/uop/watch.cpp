#include "engine/uop/watch.h"

namespace assay::uop {

Ref Watch::edit(std::string_view, Graph&, Ref u) { return u; }
void Watch::edit_source(std::string&) {}
void Watch::edit_batch(runtime::Batch&) {}
bool Watch::edits() const { return false; }
void Watch::seen(const RuleSeen&) {}
void Watch::seen(const PassSeen&) {}
void Watch::seen(const schedule::CacheSeen&) {}
void Watch::seen(const schedule::ScheduleSeen&) {}
void Watch::seen(const schedule::PlanSeen&) {}
void Watch::seen(const codegen::KernelSeen&) {}
void Watch::seen(const render::SourceSeen&) {}
void Watch::seen(const runtime::LaunchSeen&) {}

}  // namespace assay::uop
