#pragma once

#include "engine/uop/facts.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// The structural key of u.
Key key(Graph& g, Ref u);

// Whether a comes before b in the canonical order of operands, which depends on structure alone:
// terms before constants, then by operation, type and argument (names and loop numbers read as a
// person would order them), then by key.
bool comes_before(Graph& g, Ref a, Ref b);

// "0123456789abcdef0123456789abcdef".
std::string to_text(Key key);

}  // namespace assay::uop
