#pragma once

#include <rapidcheck.h>

#include "fuzz/mutate/generate.h"
#include "fuzz/shrink/shrink.h"

namespace assay::fuzz {

// Cases for properties: made by the generator from one seed, shrunk by the steps of shrinking.
inline rc::Gen<Case> gen_case(CaseOptions options = {}) {
  rc::Gen<Case> made =
      rc::gen::map(rc::gen::noShrink(rc::gen::arbitrary<uint64_t>()), [options](uint64_t seed) {
        Choices choices(seed);
        return make_case(choices, options);
      });
  return rc::gen::shrink(made, [](Case&& c) { return rc::seq::fromContainer(smaller(c)); });
}

inline void showValue(const Case& c, std::ostream& out) { out << to_text(c); }

}  // namespace assay::fuzz
