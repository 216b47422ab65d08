#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::schedule {

using uop::Graph;
using uop::Ref;

// Why one call comes before another. The numbers are those of a LINEAR's argument.
enum class EdgeKind : uint8_t {
  Raw,    // the one makes what the other takes
  War,    // the one reads what the other overwrites
  Waw,    // both write, into one version
  Reuse,  // the other's storage is laid over the one's, which is done with it
};

// Places in a list of calls. An order of the calls is right where every edge goes forward.
struct Edge {
  int32_t from = 0;
  int32_t to = 0;
  EdgeKind kind = EdgeKind::Raw;
  auto operator<=>(const Edge&) const = default;
};

// "RAW", "WAR", "WAW", "reuse".
std::string_view to_text(EdgeKind kind);

// The name of the kernel that a call runs, as its body holds it: "add_64", "copy".
std::string_view kernel_name(Ref call);
// Whether a call moves bytes between devices: its body stores a COPY (README.md, Forms).
bool is_copy(Ref call);

// LINEAR over these calls (README.md, Forms). Edges are held by from, then to, each pair once with
// the first of its kinds.
Ref make_linear(Graph& g, std::span<const Ref> calls, std::vector<Edge> edges);
// The edges of a LINEAR. An error where its argument is no list of edges that go forward.
Result<std::vector<Edge>> edges_of(Ref linear);

}  // namespace assay::schedule
