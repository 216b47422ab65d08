#pragma once

#include <string_view>

namespace assay::fuzz {

// One case of a fuzz target, as text: any bytes at all. Each target defines it, and is linked
// either with entry.cpp (libFuzzer) or with replay.cpp. Aborts where a property is breached.
void one_case(std::string_view text);

}  // namespace assay::fuzz
