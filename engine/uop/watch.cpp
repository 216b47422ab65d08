#include "engine/uop/watch.h"

namespace assay::uop {

Ref Watch::edit(std::string_view, Graph&, Ref u) { return u; }
void Watch::seen(const RuleSeen&) {}
void Watch::seen(const PassSeen&) {}

}  // namespace assay::uop
