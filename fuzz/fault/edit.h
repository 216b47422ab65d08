#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/schedule/calls.h"
#include "engine/uop/uop.h"

// What faults are made with: edits of nodes, of edges and of lines.
namespace assay::fuzz {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

enum class Which : uint8_t { All, First, Last };

// What stands in the place of a node; u itself where the fault has nothing to do.
using NodeEdit = Ref (*)(Graph& g, Ref u);

// The graph with some of the nodes edited that `edit` changes: all from the sources up, or one, the
// first or the last in the order of the toposort.
Ref edited(Graph& g, Ref root, Which which, NodeEdit edit);

Ref with_source(Graph& g, Ref u, size_t k, Ref source);
Ref without_source(Graph& g, Ref u, size_t k);
// The node with all of its source k's uses of `a` become `b` and the other way round.
Ref with_exchanged(Graph& g, Ref u, size_t k, Ref a, Ref b);

// An integer constant, moved by `by`; u itself where it is none.
Ref nudged_constant(Graph& g, Ref u, int64_t by);
// u, a function of a term and an integer constant, with the constant moved.
Ref with_nudged_operand(Graph& g, Ref u, int64_t by);

bool is_int_const(Ref u);
int64_t int_of(Ref u);
// Whether `inner` is below u, or u itself.
bool holds(Graph& g, Ref u, Ref inner);
// The first node below u that `is` says yes of, or null.
Ref found(Graph& g, Ref u, bool (*is)(Ref u));
// Whether u is a view of storage in that space.
bool is_in(Graph& g, Ref u, uop::AddrSpace space);
// An INDEX of a parameter that kernels read: not of slot 0.
bool is_input(Graph& g, Ref u);
bool is_special(Ref u, std::string_view name);

// The list of a LINEAR, edited and made anew.
Ref with_edges(Graph& g, Ref linear, void (*edit)(std::vector<schedule::Edge>& edges));
Ref with_lines(Graph& g, Ref linear, std::vector<Ref> lines);

}  // namespace assay::fuzz
