#include "props/firings/checker.h"
#include "props/firings/passes.h"
#include "props/kernel/kernel_props.h"
#include "props/property.h"
#include "props/schedule/schedule_props.h"

namespace assay::props {
namespace {

constexpr bool kDear = true;

}  // namespace

std::span<const Property> all_properties() {
  static const std::vector<Property> table = {
      // name, claim, check
      {"rule_firing", "what a rule made means what was there", rule_firing_keeps_meaning, kDear},
      {"pass_meaning", "what a pass left means what entered it", pass_keeps_meaning, kDear},
      {"schedule_order",
       "kernels find the versions that they take, in every order that edges allow", schedule_order},
      {"linear_order", "so do calls once nested lists are resolved", linear_order},
      {"plan_order", "and over arenas, whose bytes several buffers have in turn", plan_order},
      {"plan_layout", "a plan moves storage and nothing else, and says of itself what is so",
       plan_layout},
      {"schedule_cache", "a schedule from the cache is the one that would be made", schedule_cache},
      {"kernel_races", "no two work-items touch a byte, one of them writing, with nothing between",
       kernel_races},
      {"kernel_barriers", "all work-items of a group come to a barrier together, or none does",
       kernel_barriers},
      {"kernel_bounds", "each access lies inside its storage where its gate holds", kernel_bounds},
      {"kernel_stores", "what the scheduled kernel stores once is stored once", kernel_stores},
      {"kernel_alignment", "each vector begins where the target allows", kernel_alignment},
      {"kernel_reads", "what is read of LOCAL storage and registers was written before",
       kernel_reads},
      {"kernel_spare_barriers", "lists each barrier that no race needs", kernel_spare_barriers},
  };
  return table;
}

std::vector<const Property*> every_property() {
  std::vector<const Property*> all;
  for (const Property& p : all_properties()) all.push_back(&p);
  return all;
}

const Property* find_property(std::string_view name) {
  for (const Property& p : all_properties()) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

}  // namespace assay::props
