#pragma once

#include <string_view>

#include "engine/uop/uop.h"

namespace assay::fuzz {

// The term of a text, as the target over terms takes it: .uop text of any scalar term, or prefix
// text over the leaves r0 to r3 and n (index), i (i32), u (u8), x (f32) and b (bool). Null where
// the text is no term to try (fuzz/mutate/mutate_term.h).
uop::Ref term_to_try(uop::Graph& g, std::string_view text);

}  // namespace assay::fuzz
