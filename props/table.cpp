#include <algorithm>

#include "props/property.h"

namespace assay::props {

std::span<const Property> all_properties() {
  static const std::vector<Property> table = {
      // name, claim, check
  };
  return table;
}

const Property* find_property(std::string_view name) {
  for (const Property& p : all_properties()) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

}  // namespace assay::props
