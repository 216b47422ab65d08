#pragma once

#include <span>
#include <string>
#include <vector>

#include "props/schedule/call_access.h"
#include "props/schedule/call_order.h"

namespace assay::props {

// Edges of a LINEAR that could be left out, each on its own: a lost overlap of calls and no fault.
// "implied: kernel 0 (a) to kernel 2 (c)" where a path of others leads the same way; "needless: …"
// where no two calls would be left unordered that touch the same bytes or that `also` names. Each
// kind is cut after many.
std::vector<std::string> needless_edges(const CallAccesses& accesses, const CallOrder& order,
                                        std::span<const CallPair> also = {});

}  // namespace assay::props
