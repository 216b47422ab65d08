#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/result.h"
#include "engine/uop/dim.h"

namespace assay::uop {

// The sizes of the axes of a node's value, outermost first; none for a scalar. Equal shapes of one
// graph are the same span.
using Shape = std::span<const Ref>;

// The shape of u, whose operations below have the arity and types that op.def asks for. Shapes are
// sound only where shape_error() finds nothing; elsewhere they are something, and no walk fails.
//
//   const invalid variable range special   ()
//   all void operations                    (): effects, device, linear, sink, group, …
//   buffer param                           their sources of type `index`
//   scalar functions but bitcast           broadcast of all sources
//   bitcast                                that of its source; between widths, the last axis scaled
//   reshape expand                         their sources after the first
//   permute                                axis i is axis arg[i] of the source
//   flip                                   that of its source
//   pad(x, lo0, hi0, lo1, hi1, …)          lo + size + hi, axis by axis
//   shrink(x, begin0, size0, …)            the sizes
//   stack                                  [n] before the broadcast of its n sources
//   reduce(x, ranges…){op, axes}           that of x without its first `axes` axes
//   wmma(a, b, c)                          that of the accumulator c
//   index(x, i…)                           the broadcast of the indices before those axes of x that
//                                          they leave over: each index takes the next leading axis,
//                                          so scalar indices drop axes
//   stage(x, ranges…)                      an axis for each range before those of x, so that
//                                          index(stage(x, r…), r…) has the shape of x
//   multi mselect mstack                   that of their first source: a shard's, not the whole's
//   call                                   that of its body, in terms of the body's own variables
//   load copy contiguous allreduce after   that of their first source
//   end bind
Shape shape(Graph& g, Ref u);

// What is ill-formed about u itself, given its sources: sizes or axes that are out of range for all
// values of variables, shapes that never fit. What depends on those values is let pass.
std::optional<std::string> shape_error(Graph& g, Ref u);

// The shape as the graph's own span.
Shape intern_shape(Graph& g, Shape sizes);

// Both shapes aligned from the right, sizes of 1 repeated (to 0 as well: [3, 1] with [3, 0] is
// [3, 0]). Sizes that may be equal or 1 are let pass.
Result<Shape> broadcast(Graph& g, Shape a, Shape b);

// How many elements there are.
Ref size_of(Graph& g, Shape shape);
// The same where no size is symbolic and 64 bits hold it.
std::optional<int64_t> constant_size(Shape shape);
// Each symbolic size replaced by its largest value: what memory must hold. Nothing where a size has
// no largest value.
std::optional<Shape> max_shape(Graph& g, Shape shape);

// "[3, n, (+ n 1)]", for messages.
std::string shape_text(Shape shape);

// Movement operations, as nodes. pad takes lo0, hi0, lo1, hi1, …; shrink takes begin0, size0, ….
Ref reshape(Graph& g, Ref x, Shape sizes);
Ref expand(Graph& g, Ref x, Shape sizes);
Ref permute(Graph& g, Ref x, std::span<const int64_t> order);
Ref flip(Graph& g, Ref x, std::span<const int64_t> axes);
Ref pad(Graph& g, Ref x, std::span<const Ref> amounts);
Ref shrink(Graph& g, Ref x, std::span<const Ref> bounds);

}  // namespace assay::uop
