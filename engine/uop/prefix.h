#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::uop {

// Prefix text of scalar terms: (+ (* (// r0 4) 4) (% r0 4)).
//
// An operation stands under its symbol or its name in op.def; `cast` and `bitcast` are followed by
// the type they convert to, as in (cast i32 x). An operation that associates takes two operands or
// more, from the left. When reading, (>= a b) stands for (not (< a b)), (> a b) for (< b a) and
// (<= a b) for (not (< b a)).

// What the leaves of a text stand for. A name that reads as a literal is never looked up.
using Leaves = std::map<std::string, Ref, std::less<>>;

// Reads one term. Literals are `true`, `false`, `invalid`, and values of type `literals`. Zero
// written as a divisor is an error. On an error g may hold parts of the term.
Result<Ref> from_prefix(Graph& g, std::string_view text, const Leaves& leaves,
                        DType literals = Index);

// A graph that shares much is large as text: to_prefix refuses one of more operations and leaves.
inline constexpr size_t kMaxPrefixNodes = 1'000'000;

// The text of a scalar term. Leaves are constants and Invalid, which are written without their
// type; variables and specials by name, which has to be a word; and ranges, as r<number>.
Result<std::string> to_prefix(Graph& g, Ref root);

}  // namespace assay::uop
