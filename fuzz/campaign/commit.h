#pragma once

#include <string_view>

namespace assay::fuzz {

// The commit that this program was built from, with "-dirty" where files differed from it.
std::string_view engine_commit();

}  // namespace assay::fuzz
